import type { DataSource } from 'typeorm';
import type { IdempotencyFence, StoredAnswer } from '../logging/request-context.ts';

/** Kept longer than Redis' 48 h promise, so that a loss of Redis at the end of it breaks nothing. */
const KEEP_HOURS = 72;
const PURGE_BATCH = 1000;

interface Row {
  readonly fingerprint: string;
  readonly status: number | null;
  readonly body: string | null;
  readonly location: string | null;
}

/** The keys of requests that had an effect, as they stand in PostgreSQL. */
export class IdempotencyRows {
  constructor(private readonly dataSource: DataSource) {}

  async read(key: string): Promise<{ fingerprint: string; answer: StoredAnswer } | undefined> {
    const rows = (await this.dataSource.query(`select fingerprint, status, body, location from idempotency_keys where key = $1`, [
      key,
    ])) as Row[];
    const row = rows[0];
    // A row is committed with its answer or not at all, so one without a status cannot be seen from here.
    if (!row?.status) return undefined;
    return {
      fingerprint: row.fingerprint,
      answer: { status: row.status, body: row.body ?? '', ...(row.location ? { location: row.location } : {}) },
    };
  }

  /** For a success that needed no transaction: nothing to fence, but the same answer on every repeat. */
  async add(fence: IdempotencyFence, answer: StoredAnswer): Promise<void> {
    await this.dataSource.query(
      `insert into idempotency_keys (key, user_id, fingerprint, status, body, location) values ($1, $2, $3, $4, $5, $6) on conflict (key) do nothing`,
      [fence.key, fence.userId, fence.fingerprint, answer.status, answer.body, answer.location ?? null],
    );
  }

  /** READ COMMITTED on purpose: it moves rows nobody decides by any more. Returns how many went. */
  async purgeOnce(): Promise<number> {
    const rows = (await this.dataSource.query(
      `with old as (
         select key from idempotency_keys where created_at < now() - make_interval(hours => $1) limit $2 for update skip locked
       ) delete from idempotency_keys using old where idempotency_keys.key = old.key returning 1`,
      [KEEP_HOURS, PURGE_BATCH],
    )) as [unknown[], number];
    return rows[1];
  }
}
