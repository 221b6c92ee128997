import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { AcceptedTicket } from '../../purchase.api.ts';
import { COUNT_FAN_SEATS, FAN_WITHOUT_SEATS, type FanSeats } from './fan-seats.sql.ts';

interface FanAtMatch {
  readonly matchId: string;
  readonly userId: string;
}

async function countSeats(tx: Transaction, { matchId, userId }: FanAtMatch): Promise<FanSeats> {
  const [counted = FAN_WITHOUT_SEATS] = await inside(tx).rows<FanSeats>(
    COUNT_FAN_SEATS.with({ matchIds: [matchId], userIds: [userId] }),
  );
  return counted;
}

/**
 * Adds a reservation to the fan's counted seats and returns true, if the count stays within the limit. Two transactions that give
 * the same fan seats update the same row of `fan_seats`: the second one waits for the first, then finds a newer revision and
 * returns false.
 */
export async function countReservation(
  tx: Transaction,
  { id, matchId, userId, quantity }: FanAtMatch & { readonly id: string; readonly quantity: number },
  limit: number,
): Promise<boolean> {
  const counted = await countSeats(tx, { matchId, userId });
  if (counted.taken + quantity > limit) return false;
  const unpaidIds = (counted.unpaid ?? []).map((hold) => hold.id).filter((unpaidId) => unpaidId !== id);
  const rows = await inside(tx).rows(
    `insert into fan_seats (match_id, user_id, revision, reservation_ids) values ($1, $2, 1, $4)
     on conflict (user_id, match_id) do update
       set revision = fan_seats.revision + 1, reservation_ids = excluded.reservation_ids, unpaid_ids = nullif($5::uuid[], '{}')
       where fan_seats.revision = $3 returning 1`,
    [matchId, userId, counted.revision, [...counted.living, id], unpaidIds],
  );
  return rows.length > 0;
}

/**
 * Increases the revision of the fan's row when a hold is paid. Otherwise a concurrent hold request of the same fan could miss the
 * paid seats: a hold paid in its last millisecond is expired a millisecond later, so the count of that request leaves it out.
 * Returns false when the fan's row no longer lists the reservation.
 */
export async function keepCounted(
  tx: Transaction,
  { id, matchId, userId }: FanAtMatch & { readonly id: string },
): Promise<boolean> {
  const rows = await inside(tx).rows(
    `update fan_seats set revision = revision + 1 where match_id = $1 and user_id = $2 and $3 = any(reservation_ids) returning 1`,
    [matchId, userId, id],
  );
  return rows.length > 0;
}

/**
 * Adds an accepted ticket to the count of its new owner. Returns how many seats the fan had before; undefined for a ticket of a
 * quota, which counts for nobody. The revision grows, so that no transaction adds to an old count. The counts of the fans who had
 * the ticket before stay: giving away lets nobody buy more.
 */
export async function countAccepted(tx: Transaction, { matchId, orderId, userId }: AcceptedTicket): Promise<number | undefined> {
  const [ofInvitation] = await inside(tx).rows(
    `select from reservations where id = (select reservation_id from orders where id = $1) and invitation_id is not null`,
    [orderId],
  );
  if (ofInvitation) return undefined;
  const counted = await countSeats(tx, { matchId, userId });
  await inside(tx).rows(
    `insert into fan_seats (match_id, user_id, revision, reservation_ids, received) values ($1, $2, 1, '{}', 1)
     on conflict (user_id, match_id) do update
       set revision = fan_seats.revision + 1, received = fan_seats.received + 1 returning 1`,
    [matchId, userId],
  );
  return counted.taken;
}

/** Whether seats were ever counted for the fan. */
export async function hasSeatCounts(tx: Transaction, userId: string): Promise<boolean> {
  return (await inside(tx).rows(`select from fan_seats where user_id = $1 limit 1`, [userId])).length > 0;
}

/**
 * Subtracts refunded tickets from the counts of all fans who ever had them. `userIds` has one entry for each ticket and each of
 * these fans. The revisions of the fans grow, so that no transaction adds to an old count. Rows are locked in the order of their
 * keys, so that two refunds never wait for each other.
 */
export async function countRefunded(tx: Transaction, matchId: string, userIds: readonly string[]): Promise<void> {
  const rows = await inside(tx).rows<{ n: number }>(
    `with refunded as (
       select user_id, count(*)::int as n from unnest($2::uuid[]) as r(user_id) group by user_id
     ), locked as (
       select user_id from fan_seats where user_id = any($2::uuid[]) and match_id = $1 order by user_id for no key update
     ), counted as (
       update fan_seats f set revision = revision + 1, received = received - refunded.n
       from refunded join locked using (user_id) where f.user_id = any($2::uuid[]) and f.user_id = refunded.user_id and f.match_id = $1
       returning refunded.n
     ) select coalesce(sum(n), 0)::int as n from counted`,
    [matchId, userIds],
  );
  if (rows[0]?.n !== userIds.length)
    throw new Error(`of ${userIds.length} counted tickets of match ${matchId} ${rows[0]?.n} were counted`);
}
