import type { DataSource } from 'typeorm';
import { Batcher } from '../batching/batcher.ts';
import { runUnprepared } from '../postgres/database.ts';
import { ADD_ANSWER, PURGE_KEYS, READ_ANSWERS, type IdempotencyKeyRow } from '../postgres/idempotency-keys.sql.ts';
import { runReadCommitted } from '../postgres/read-committed.ts';
import type { RequestKey, StoredAnswer } from '../logging/request-context.ts';
import { IdempotencyRows, type StoredRow } from './idempotency-rows.ts';

/**
 * How long idempotency rows are kept. Longer than the 48 h that our API promises, so that a loss of Redis near the end of the 48
 * h breaks nothing.
 */
const KEEP_HOURS = 72;
/** Maximum number of rows that one purge deletes. */
const PURGE_BATCH = 1000;

/** The idempotency rows in the table `idempotency_keys`. */
export class PostgresIdempotencyRows extends IdempotencyRows {
  private readonly reads = new Batcher<string, StoredRow | undefined>((keys) => this.readAll(keys));

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  read(key: string): Promise<StoredRow | undefined> {
    return this.reads.add(key);
  }

  private async readAll(keys: readonly string[]): Promise<(StoredRow | undefined)[]> {
    const rows = await runUnprepared<IdempotencyKeyRow[]>(this.dataSource, READ_ANSWERS.with({ keys: [...new Set(keys)] }));
    const found = new Map(rows.map((row) => [row.key, stored(row)]));
    return keys.map((key) => found.get(key));
  }

  async add({ key, userId, fingerprint }: RequestKey, answer: StoredAnswer): Promise<void> {
    const { status, body, location = null } = answer;
    await runUnprepared(this.dataSource, ADD_ANSWER.with({ key, userId, fingerprint, status, body, location }));
  }

  /** Deletes old rows, at most one batch; returns how many. READ COMMITTED is enough: no request depends on rows this old. */
  async purgeOnce(): Promise<number> {
    const statement = PURGE_KEYS.with({ keepHours: KEEP_HOURS, limit: PURGE_BATCH });
    return (await runReadCommitted(this.dataSource, (tx) => tx.query(statement))).rowCount;
  }
}

function stored({ fingerprint, status, body, location, made }: IdempotencyKeyRow): StoredRow {
  return { fingerprint, answer: { status, body: body ?? '', ...(location ? { location } : {}) }, ...(made ? { made } : {}) };
}
