import pg from 'pg';
import type { Source } from '../core/event.ts';
import { Lock, LockFactory } from '../core/ports.ts';

/**
 * An advisory lock has a key of two numbers. This is the first one for all locks of the loader; the second one names the source.
 */
const LOCK_NAMESPACE = 7_426_010;

/**
 * Locks of sources without Redis, as advisory locks of PostgreSQL: a second implementation that proves that the contract of
 * LockFactory does not depend on Redis. A lock lives as long as its database session, so it needs no renewal. A frozen process
 * keeps its lock until the server closes the connection; therefore production uses Redis.
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
      const { rows } = await client.query<{ acquired: boolean; lock_number: string }>(
        `select pg_try_advisory_lock($1, hashtext($2)) as acquired, (extract(epoch from clock_timestamp()) * 1000000)::bigint as lock_number`,
        [LOCK_NAMESPACE, name],
      );
      if (rows[0]?.acquired) return lock.heldAs(Number(rows[0].lock_number));
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    await client.end();
    return undefined;
  }
}

class AdvisoryLock extends Lock {
  lockNumber = 0;
  isHeld = false;

  constructor(private readonly client: pg.Client) {
    super();
    client.on('error', () => (this.isHeld = false));
    client.on('end', () => (this.isHeld = false));
  }

  heldAs(lockNumber: number): this {
    this.lockNumber = lockNumber;
    this.isHeld = true;
    return this;
  }

  async release(): Promise<void> {
    this.isHeld = false;
    await this.client.end();
  }
}
