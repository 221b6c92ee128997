import type { RequestKey, StoredAnswer } from '../logging/request-context.ts';
import { namedSql } from './named-sql.ts';

/*
 * The table `idempotency_keys`: the clients' keys of requests that have taken effect, with the answers. A row is committed
 * together with the effect of its request, or not at all. The unique key guarantees that the effect happens once.
 */

type NewKey = Pick<RequestKey, 'key' | 'userId' | 'fingerprint'>;
type KeyAnswer = Pick<RequestKey, 'key'> & Pick<StoredAnswer, 'status' | 'body'> & { readonly location: string | null };

/**
 * Inserts the key of a request, as the first statement of the request's transaction. It waits while another open transaction has
 * inserted the same key. It returns no row when the key is already committed.
 */
export const INSERT_KEY = namedSql<NewKey>(
  'insert-idempotency-key',
  `insert into idempotency_keys (key, user_id, fingerprint) values (:key, :userId, :fingerprint)
   on conflict (key) do nothing returning key`,
);

/** Stores the answer to a request in the row of its key, as the last statement of the request's transaction. */
export const STORE_ANSWER = namedSql<KeyAnswer>(
  'store-idempotent-answer',
  `update idempotency_keys set status = :status, body = :body, location = :location where key = :key`,
);

/**
 * Inserts the keys of many requests with their answers, as the last statement of a transaction that these requests share. It has
 * no `on conflict`: if one key is already used, the whole transaction fails.
 */
export const INSERT_KEYS_WITH_ANSWERS = namedSql<{
  readonly keys: readonly string[];
  readonly userIds: readonly string[];
  readonly fingerprints: readonly string[];
  readonly statuses: readonly number[];
  readonly bodies: readonly string[];
  readonly locations: readonly (string | null)[];
}>(
  'insert-idempotency-keys',
  `insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
   select * from unnest(:keys::text[], :userIds::uuid[], :fingerprints::text[], :statuses::int[], :bodies::text[], :locations::text[])`,
);

/**
 * Inserts the key and the answer of a successful request that needed no transaction. A key that is already stored keeps its
 * answer.
 */
export const ADD_ANSWER = namedSql<NewKey & KeyAnswer>(
  'add-idempotent-answer',
  `insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
   values (:key, :userId, :fingerprint, :status, :body, :location) on conflict (key) do nothing`,
);

/** A row of READ_ANSWERS' result: a key with the stored answer of its request. */
export interface IdempotencyKeyRow extends Omit<KeyAnswer, 'body'>, Pick<RequestKey, 'fingerprint'> {
  readonly body: string | null;
  /** Id of the reservation that a hold request has made; its answer is rendered from it. Only rows of HOLD_BATCH have it. */
  readonly made: string | null;
}

/** Reads the stored answers of keys. Rows are committed only with an answer, so every row that this query sees has a status. */
export const READ_ANSWERS = namedSql<{ readonly keys: readonly string[] }>(
  'read-idempotent-answers',
  `select key, fingerprint, status, body, location, made from idempotency_keys where key = any(:keys) and status is not null`,
);
