import { namedSql } from '../postgres/named-sql.ts';

/**
 * An older mail or push is parked instead of sent: it belongs to an order of last week, or to a restored backup whose messages
 * were sent long ago. It is sent only when an operator wants it and it was not sent before. One day shorter than the marks in
 * Redis live, so that every message that is not parked can still be recognised by its mark.
 */
const STALE_AFTER_DAYS = 7;
/** The `last_error` of a message that was parked for its age. `outbox:consume --force` finds such rows by this text. */
export const STALE_ERROR = `older than ${STALE_AFTER_DAYS} days: outbox:consume --force sends it`;

/** SQL condition of a query over `outbox`. */
export const IS_TOO_OLD = `created_at < now() - interval '${STALE_AFTER_DAYS} days'`;

/** Makes messages due again that were parked for their age. Skips rows that another transaction has locked. */
export const UNPARK_STALE = namedSql<{ readonly destination: string; readonly staleError: string }>(
  'unpark-stale-messages',
  `
  update outbox set parked_at = null, available_at = now(), attempts = 0
  where id in (select id from outbox where destination = :destination and parked_at is not null and last_error = :staleError
               for update skip locked)`,
);

/**
 * Those of the messages that were sent already, according to the inbox. Pushes through a provider are not in it; their worker
 * checks its own ledger.
 */
export const FIND_ALREADY_SENT = namedSql<{ readonly ids: readonly string[] }>(
  'find-already-sent',
  `
  select message_id as id from inbox
  where consumer in ('email', 'push') and message_id = any(:ids::text[]) and finished_at is not null`,
);
