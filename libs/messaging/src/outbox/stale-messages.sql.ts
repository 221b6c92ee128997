import { namedSql } from '#platform/postgres/named-sql';

/**
 * A mail or push older than this is parked instead of sent: it belongs to an order of last week, or to a restored backup whose
 * messages were sent long ago. It is sent only when an operator wants it and it was not sent before. The time is one day shorter
 * than the lifetime of the marks in Redis that say which messages were sent, so every message that is not parked still has its
 * mark.
 */
const STALE_AFTER_DAYS = 7;
/** The `last_error` of a message that was parked for its age. `outbox:consume --force` finds such rows by this text. */
export const STALE_ERROR = `older than ${STALE_AFTER_DAYS} days: outbox:consume --force sends it`;

/** SQL condition: the message (a row of `outbox`) is too old to be sent. */
export const IS_TOO_OLD = `created_at < now() - interval '${STALE_AFTER_DAYS} days'`;

/** Makes messages that were parked for their age due again. Skips rows that another transaction has locked. */
export const UNPARK_STALE = namedSql<{ readonly destination: string; readonly staleError: string }>(
  'unpark-stale-messages',
  `
  update outbox set parked_at = null, available_at = now(), attempts = 0
  where id in (select id from outbox where destination = :destination and parked_at is not null and last_error = :staleError
               for update skip locked)`,
);

/**
 * Finds which of the messages were already sent, according to the inbox. Pushes through a provider are not in the inbox; the
 * worker that sends them checks its own ledger, `push_progress`.
 */
export const FIND_ALREADY_SENT = namedSql<{ readonly ids: readonly string[] }>(
  'find-already-sent',
  `
  select message_id as id from inbox
  where consumer in ('email', 'push') and message_id = any(:ids::text[]) and finished_at is not null`,
);
