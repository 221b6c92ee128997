import { namedSql } from './named-sql.ts';

/*
 * The table `idempotency_keys`. A row is committed together with the effect and its answer, or not at all. The unique key
 * guarantees that the effect happens once (W5).
 */

interface NewKey {
  readonly key: string;
  readonly userId: string;
  readonly fingerprint: string;
}

interface KeyAnswer {
  readonly key: string;
  readonly status: number;
  readonly body: string;
  readonly location: string | null;
}

/**
 * First statement of the effect's own transaction. It waits while another transaction has inserted the same key. It returns no
 * row when the key is committed already.
 */
export const INSERT_KEY = namedSql<NewKey>(
  'insert-idempotency-key',
  `insert into idempotency_keys (key, user_id, fingerprint) values (:key, :userId, :fingerprint)
   on conflict (key) do nothing returning key`,
);

/** Last statement of the effect's own transaction. */
export const STORE_ANSWER = namedSql<KeyAnswer>(
  'store-idempotent-answer',
  `update idempotency_keys set status = :status, body = :body, location = :location where key = :key`,
);

/**
 * Last statement of a transaction that many requests share: all keys with their answers. It has no `on conflict`: if one key is
 * used already, it fails, and so does the whole transaction.
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

/** Stores the answer of a success that needed no transaction. A key that is stored already keeps its answer. */
export const ADD_ANSWER = namedSql<NewKey & KeyAnswer>(
  'add-idempotent-answer',
  `insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
   values (:key, :userId, :fingerprint, :status, :body, :location) on conflict (key) do nothing`,
);

export interface IdempotencyKeyRow {
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string | null;
  readonly location: string | null;
  readonly made: string | null;
}

/** A row is committed complete or not at all, so every row that this query sees has a status. */
export const READ_ANSWERS = namedSql<{ readonly keys: readonly string[] }>(
  'read-idempotent-answers',
  `select key, fingerprint, status, body, location, made from idempotency_keys where key = any(:keys) and status is not null`,
);

/** Deletes old rows. It skips rows that another transaction has locked. */
export const PURGE_KEYS = namedSql<{ readonly keepHours: number; readonly limit: number }>(
  'purge-idempotency-keys',
  `
  with old as (
    select key from idempotency_keys where created_at < now() - make_interval(hours => :keepHours) limit :limit for update skip locked
  ) delete from idempotency_keys using old where idempotency_keys.key = old.key`,
);
