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

/** The table of the keys of requests that had an effect, with their answers. A row is committed with the effect. */
export abstract class IdempotencyRows {
  abstract read(key: string): Promise<StoredRow | undefined>;
  /**
   * Stores the answer of a successful request that needed no transaction, so that a repeated request with the key gets the same
   * answer.
   */
  abstract add(requestKey: RequestKey, answer: StoredAnswer): Promise<void>;
  /** Deletes a batch of expired rows and returns how many rows it deleted. */
  abstract purgeOnce(): Promise<number>;
}
