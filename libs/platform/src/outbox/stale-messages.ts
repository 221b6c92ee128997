import { prepared, type DriverClient } from '../postgres/database.ts';

/**
 * A mail or push that waited longer than this is of another time: an order of last week, or rows of a backup whose messages
 * left long ago. It leaves when somebody says so, and what has left already does not. A day less
 * than the marks in Redis live, so that what is not refused is known there too.
 */
const STALE_AFTER_DAYS = 7;
export const STALE = `older than ${STALE_AFTER_DAYS} days: outbox:consume --force sends it`;

/** A condition, and a column, of a query over `outbox`. */
export const OF_ANOTHER_TIME = `created_at < now() - interval '${STALE_AFTER_DAYS} days'`;
export const IS_STALE = `${OF_ANOTHER_TIME} as stale`;
/** An operator has looked at this very row and wants it sent. */
export const IS_WANTED = 'retried_at is not null as wanted';

const BRING_BACK = `
  update outbox set parked_at = null, available_at = now(), attempts = 0
  where id in (select id from outbox where destination = $1 and parked_at is not null and last_error = $2 for update skip locked)`;

/** What was refused for its age only is due again; a row that somebody else is dealing with is not waited for. */
export async function bringBackStale(client: DriverClient, destination: string): Promise<void> {
  await client.query(prepared(BRING_BACK, [destination, STALE]));
}

const LEFT_ALREADY = `
  select message_id as id from inbox
  where consumer in ('email', 'push') and message_id = any($1::text[]) and finished_at is not null`;

/** Which of these the inbox knows to have left. Pushes to a provider have a ledger of their own, where their worker looks. */
export async function leftAlready(client: DriverClient, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ rows: { id: string }[] }>(prepared(LEFT_ALREADY, [ids]));
  return new Set(rows.map(({ id }) => id));
}
