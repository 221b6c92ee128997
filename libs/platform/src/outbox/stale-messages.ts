import { prepared, type DriverClient } from '../postgres/database.ts';

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
export const IS_STALE = `${IS_TOO_OLD} as stale`;
/** True when an operator has retried this row, so it is sent although it is old. */
export const IS_WANTED = 'retried_at is not null as wanted';

const UNPARK = `
  update outbox set parked_at = null, available_at = now(), attempts = 0
  where id in (select id from outbox where destination = $1 and parked_at is not null and last_error = $2 for update skip locked)`;

/** Makes messages due again that were parked for their age. Skips rows that another transaction has locked. */
export async function unparkStale(client: DriverClient, destination: string): Promise<void> {
  await client.query(prepared(UNPARK, [destination, STALE_ERROR]));
}

const ALREADY_SENT = `
  select message_id as id from inbox
  where consumer in ('email', 'push') and message_id = any($1::text[]) and finished_at is not null`;

/**
 * The ids of messages that were sent already, according to the inbox. Pushes through a provider are not in it; their worker
 * checks its own ledger.
 */
export async function alreadySent(client: DriverClient, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ rows: { id: string }[] }>(prepared(ALREADY_SENT, [ids]));
  return new Set(rows.map(({ id }) => id));
}
