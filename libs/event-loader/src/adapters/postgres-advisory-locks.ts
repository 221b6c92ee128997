import pg from 'pg';
import type { Source } from '../core/event.ts';
import { Lock, LockFactory } from '../core/ports.ts';

/** The first half of the key of every advisory lock of the loader. */
const LOADER = 7_426_010;

/**
 * The lock without Redis: it lives as long as its session, so a process that dies lets go at once and nobody renews anything.
 * A frozen one keeps it until the server misses it; that is why Redis is what `loader:run` uses.
 */
export class PostgresAdvisoryLocks extends LockFactory {
  constructor(private readonly url: string) {
    super();
  }

  async tryAcquire({ name }: Source): Promise<Lock | undefined> {
    const client = new pg.Client({ connectionString: this.url, application_name: 'tribina-loader-lock' });
    const lock = new AdvisoryLock(client);
    await client.connect();
    try {
      const { rows } = await client.query<{ mine: boolean; fence: string }>(
        `select pg_try_advisory_lock($1, hashtext($2)) as mine, (extract(epoch from clock_timestamp()) * 1000000)::bigint as fence`,
        [LOADER, name],
      );
      if (rows[0]?.mine) return lock.heldAs(Number(rows[0].fence));
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    await client.end();
    return undefined;
  }
}

class AdvisoryLock extends Lock {
  fence = 0;
  isHeld = false;

  constructor(private readonly client: pg.Client) {
    super();
    client.on('error', () => (this.isHeld = false));
    client.on('end', () => (this.isHeld = false));
  }

  heldAs(fence: number): this {
    this.fence = fence;
    this.isHeld = true;
    return this;
  }

  async release(): Promise<void> {
    this.isHeld = false;
    await this.client.end();
  }
}
