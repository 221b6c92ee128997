import { namedSql } from '#platform/postgres/named-sql';

/** Columns of a message. `failures` are the failures stored in the row; for a row without failures, its last error. */
const COLUMNS = `id, destination, event, aggregate_id as "aggregateId", body, created_at as "createdAt", parked_at as "parkedAt", attempts,
  available_at <= now() as "isDue",
  case when failures is not null then failures
       when last_error is not null then jsonb_build_array(jsonb_build_object('at', coalesce(parked_at, created_at), 'error', last_error))
       else '[]' end as failures`;

interface ParkedFilter {
  readonly before: string | null;
  readonly event: string | null;
  readonly text: string | null;
  readonly limit: number;
}

/**
 * Lists parked messages, newest first. `text` (in lower case) is searched in the whole row, so it finds too much rather than too
 * little. `before` is any text; it is compared byte by byte, which is also the order of UUIDs.
 */
export const LIST_PARKED = namedSql<ParkedFilter>(
  'list-parked-messages',
  `
  select ${COLUMNS} from outbox
  where parked_at is not null and (:before::text is null or id::text collate "C" < :before) and (:event::text is null or event = :event)
    and (:text::text is null or strpos(lower(concat_ws(' ', id, event, aggregate_id, destination, body, last_error, failures)), :text) > 0)
  order by id desc limit :limit`,
);

/** Finds a message of the outbox, parked or not. */
export const FIND_MESSAGE = namedSql<{ readonly id: string }>('find-message', `select ${COLUMNS} from outbox where id = :id`);

/** Counts all messages in the outbox by state: waiting for delivery, delayed, parked. */
export const COUNT_MESSAGES = namedSql<object>(
  'count-messages',
  `
  select count(*) filter (where parked_at is null and available_at <= now())::int as waiting,
         count(*) filter (where parked_at is null and available_at > now())::int as delayed,
         count(*) filter (where parked_at is not null)::int as parked,
         coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::int as "oldestSeconds"
  from outbox`,
);

/** Makes parked messages due at once, with the full number of attempts. Returns no row for a message that is not parked any more. */
export const RETRY_MESSAGES = namedSql<{ readonly ids: readonly string[] }>(
  'retry-messages',
  `
  update outbox set parked_at = null, attempts = 0, available_at = now(), retried_at = now()
  where id = any(:ids) and parked_at is not null returning id, destination`,
);
