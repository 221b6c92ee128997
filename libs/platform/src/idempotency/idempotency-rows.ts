import type { RequestKey, StoredAnswer } from '../logging/request-context.ts';

export interface StoredRow {
  readonly fingerprint: string;
  readonly answer: StoredAnswer;
  /** Id of what the request created (a reservation). If it is set, the answer is rendered from it and `answer` is empty. */
  readonly made?: string;
}

/** The keys of requests that had an effect, with their answers. A row is committed with the effect. */
export abstract class IdempotencyRows {
  abstract read(key: string): Promise<StoredRow | undefined>;
  /** Stores the answer of a success that needed no transaction, so that a repeated key gets the same answer. */
  abstract add(requestKey: RequestKey, answer: StoredAnswer): Promise<void>;
  /** Deletes a batch of expired rows and returns their number. */
  abstract purgeOnce(): Promise<number>;
}
