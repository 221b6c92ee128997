import type { DataSource } from 'typeorm';
import { Batcher } from '../batching/batcher.ts';
import { runUnprepared } from '../postgres/database.ts';
import { ADD_ANSWER, READ_ANSWERS, type IdempotencyKeyRow } from '../postgres/idempotency-keys.sql.ts';
import type { RequestKey, StoredAnswer } from '../logging/request-context.ts';

/** A row of the table `idempotency_keys`. */
export interface StoredRow {
  readonly fingerprint: string;
  readonly answer: StoredAnswer;
  /**
   * Id of the object that the request created (a reservation). If it is set, `answer` is empty and the answer is rendered from
   * that object.
   */
  readonly made?: string;
}

/**
 * The keys of requests that had an effect, with their answers, in the table `idempotency_keys`. A row is committed with the
 * effect.
 */
export class IdempotencyRows {
  private readonly reads = new Batcher<string, StoredRow | undefined>((keys) => this.readAll(keys));

  constructor(private readonly dataSource: DataSource) {}

  read(key: string): Promise<StoredRow | undefined> {
    return this.reads.add(key);
  }

  private async readAll(keys: readonly string[]): Promise<(StoredRow | undefined)[]> {
    const rows = await runUnprepared<IdempotencyKeyRow[]>(this.dataSource, READ_ANSWERS.with({ keys: [...new Set(keys)] }));
    const found = new Map(rows.map((row) => [row.key, stored(row)]));
    return keys.map((key) => found.get(key));
  }

  /**
   * Stores the answer of a successful request that needed no transaction, so that a repeated request with the key gets the same
   * answer.
   */
  async add({ key, userId, fingerprint }: RequestKey, answer: StoredAnswer): Promise<void> {
    const { status, body, location = null } = answer;
    await runUnprepared(this.dataSource, ADD_ANSWER.with({ key, userId, fingerprint, status, body, location }));
  }
}

function stored({ fingerprint, status, body, location, made }: IdempotencyKeyRow): StoredRow {
  return { fingerprint, answer: { status, body: body ?? '', ...(location ? { location } : {}) }, ...(made ? { made } : {}) };
}
