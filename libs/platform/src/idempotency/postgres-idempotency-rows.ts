import type { DataSource } from 'typeorm';
import { CoalescedReader } from '../postgres/coalesced-reader.ts';
import { runReadCommitted } from '../postgres/read-committed.ts';
import type { RequestKey, StoredAnswer } from '../logging/request-context.ts';
import { IdempotencyRows, type StoredRow } from './idempotency-rows.ts';

/** Longer than the 48 h that the contract promises, so that a loss of Redis near the end of the 48 h breaks nothing. */
const KEEP_HOURS = 72;
const PURGE_BATCH = 1000;

const PURGE = `
  with old as (
    select key from idempotency_keys where created_at < now() - make_interval(hours => $1) limit $2 for update skip locked
  ) delete from idempotency_keys using old where idempotency_keys.key = old.key`;

interface Row {
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string | null;
  readonly location: string | null;
  readonly made: string | null;
}

/** The table `idempotency_keys`. */
export class PostgresIdempotencyRows extends IdempotencyRows {
  private readonly reader: CoalescedReader<StoredRow>;

  constructor(private readonly dataSource: DataSource) {
    super();
    this.reader = new CoalescedReader((keys) => this.readAll(keys));
  }

  read(key: string): Promise<StoredRow | undefined> {
    return this.reader.read(key);
  }

  /** A row is committed complete or not at all, so every row that this query sees has a status. */
  private async readAll(keys: readonly string[]): Promise<ReadonlyMap<string, StoredRow>> {
    const rows = (await this.dataSource.query(
      `select key, fingerprint, status, body, location, made from idempotency_keys where key = any($1) and status is not null`,
      [keys],
    )) as Row[];
    return new Map(rows.map((row) => [row.key, stored(row)]));
  }

  async add(requestKey: RequestKey, answer: StoredAnswer): Promise<void> {
    await this.dataSource.query(
      `insert into idempotency_keys (key, user_id, fingerprint, status, body, location) values ($1, $2, $3, $4, $5, $6) on conflict (key) do nothing`,
      [requestKey.key, requestKey.userId, requestKey.fingerprint, answer.status, answer.body, answer.location ?? null],
    );
  }

  /** READ COMMITTED is enough: no command decides by these rows. */
  async purgeOnce(): Promise<number> {
    const { rowCount } = await runReadCommitted(this.dataSource, (tx) => tx.query(PURGE, [KEEP_HOURS, PURGE_BATCH]));
    return rowCount;
  }
}

function stored({ fingerprint, status, body, location, made }: Row): StoredRow {
  return { fingerprint, answer: { status, body: body ?? '', ...(location ? { location } : {}) }, ...(made ? { made } : {}) };
}
