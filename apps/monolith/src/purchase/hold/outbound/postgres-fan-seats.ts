import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';

export interface FanSeats {
  /** Held, ordered, bought, and got from others, less what was given away or refunded; a hold that expired a moment ago no longer counts. */
  readonly taken: number;
  /** Moves on whenever this fan gets seats of this match. */
  readonly revision: number;
  /** The reservations that were counted. */
  readonly living: readonly string[];
}

export interface FanAtMatch {
  readonly matchId: string;
  readonly userId: string;
}

/** A fan who never had a seat of the match, as most are who ask. */
export const NEWCOMER: FanSeats = { taken: 0, revision: 0, living: [] };

/** How many seats each of these fans has, in their order; everything is reached by key. */
export function countFans(fans: readonly FanAtMatch[]): { name: string; text: string; values: unknown[] } {
  return {
    name: 'count-fans',
    text: `
      select coalesce(f.revision, 0) as revision, l.taken + coalesce(f.received, 0) as taken, l.living
      from unnest($1::uuid[], $2::uuid[]) with ordinality as a(match_id, user_id, position)
           -- By key: the session that asks may not nest loops, and would read the whole table instead.
           left join (select * from fan_seats where user_id = any($2) and match_id = any($1)) f using (match_id, user_id)
           cross join lateral (
             select coalesce(sum(r.quantity), 0)::int as taken, coalesce(array_agg(r.id), '{}') as living
             from reservations r
             where r.id = any(f.reservation_ids) and (r.status = 'completed' or (r.status in ('held', 'ordered') and r.expires_at > now()))
           ) l
      order by a.position`,
    values: [fans.map(({ matchId }) => matchId), fans.map(({ userId }) => userId)],
  };
}

/**
 * Adds a reservation to those of its fan, if it stays within the limit. The row of the fan is what two transactions that
 * give the same fan seats collide on: the second waits for the first, and then finds that the revision has moved on.
 */
export async function countReservation(
  tx: Transaction,
  { id, matchId, userId, quantity }: FanAtMatch & { readonly id: string; readonly quantity: number },
  limit: number,
): Promise<boolean> {
  const { text, values } = countFans([{ matchId, userId }]);
  const [counted = NEWCOMER] = await inside(tx).rows<FanSeats>(text, values);
  if (counted.taken + quantity > limit) return false;
  const rows = await inside(tx).rows(
    `insert into fan_seats (match_id, user_id, revision, reservation_ids) values ($1, $2, 1, $4)
     on conflict (user_id, match_id) do update set revision = fan_seats.revision + 1, reservation_ids = excluded.reservation_ids
       where fan_seats.revision = $3 returning 1`,
    [matchId, userId, counted.revision, [...counted.living, id]],
  );
  return rows.length > 0;
}

/**
 * A hold that is paid in its last millisecond is over for a hold of the same fan that comes a millisecond later, which then
 * counts without it; so the row of the fan moves on with the payment, too. False when the fan's row no longer lists it.
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
 * A ticket changes hands: it counts for `to` from now on. Answers how many seats `to` had before. Both fans' rows move on, so
 * that nobody adds to what was counted before; in the order of their keys, as two fans may give each other tickets at once.
 */
export async function countHandover(
  tx: Transaction,
  { matchId, from, to }: { readonly matchId: string; readonly from: string; readonly to: string },
): Promise<number> {
  const { text, values } = countFans([{ matchId, userId: to }]);
  const [counted = NEWCOMER] = await inside(tx).rows<FanSeats>(text, values);
  await inside(tx).rows(
    `insert into fan_seats (match_id, user_id, revision, reservation_ids, received)
     select $1, user_id, 1, '{}', change from unnest($2::uuid[], array[-1, 1]) as c(user_id, change) order by user_id
     on conflict (user_id, match_id) do update
       set revision = fan_seats.revision + 1, received = fan_seats.received + excluded.received returning 1`,
    [matchId, [from, to]],
  );
  return counted.taken;
}

/**
 * Tickets of these fans (one entry a ticket) were refunded: they count for whoever had them no more, bought or got from others.
 * The rows move on, so that nobody adds to what was counted before; in the order of their keys, like a ticket that changes hands.
 */
export async function countRefunded(tx: Transaction, matchId: string, userIds: readonly string[]): Promise<void> {
  const rows = await inside(tx).rows<{ n: number }>(
    `with dead as (
       select user_id, count(*)::int as n from unnest($2::uuid[]) as d(user_id) group by user_id
     ), locked as (
       select user_id from fan_seats where user_id = any($2::uuid[]) and match_id = $1 order by user_id for no key update
     ), counted as (
       update fan_seats f set revision = revision + 1, received = received - dead.n
       from dead join locked using (user_id) where f.user_id = any($2::uuid[]) and f.user_id = dead.user_id and f.match_id = $1
       returning dead.n
     ) select coalesce(sum(n), 0)::int as n from counted`,
    [matchId, userIds],
  );
  if (rows[0]?.n !== userIds.length)
    throw new Error(`of ${userIds.length} tickets of match ${matchId} ${rows[0]?.n} were counted`);
}
