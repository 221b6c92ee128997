import { namedSql } from '#platform/postgres/named-sql';
import type { Reservation } from '../../application/ports.ts';
import { UNPAID_COUNT_FROM_NOW } from './fan-seats.sql.ts';

/*
 * Completes the holds of a batch of orders in one statement: marks seats as sold and reservations as completed.
 *
 * Guarantees
 * - All seats of a hold are sold or none.
 * - Only a hold that its fan's row in `fan_seats` still lists is completed. A hold of an invitation counts for no fan and needs none. The revision of that row grows, so a concurrent hold
 *   request that counted the fan's seats before must count them again (`keepCounted` does the same for one hold).
 * - A paid fan's unpaid holds count again from 0.
 * - It waits for no row: it locks with `skip locked` before it updates, because an UPDATE would wait. A hold with a seat or fan
 *   that another transaction has locked stays as it was.
 *
 * How it stays fast: rows to update are selected by arrays, not by joins. The planner estimates one row for a batch, so it would
 * execute a join by comparing every row with every other row.
 */

type CompleteHoldsParameters = ReturnType<typeof completeHoldsParameters>;

/** Arrays with one element for each hold to complete, except `seatIds`, which has the seats of all holds. */
export function completeHoldsParameters(reservations: readonly Reservation[]) {
  return {
    reservationIds: reservations.map(({ id }) => id),
    quantities: reservations.map(({ seats }) => seats.length),
    matchIds: reservations.map(({ matchId }) => matchId),
    userIds: reservations.map(({ userId }) => userId),
    ofInvitations: reservations.map(({ invitationId }) => invitationId !== null),
    seatIds: reservations.flatMap(({ seats }) => seats.map(({ seatId }) => seatId)),
  };
}

const COMPLETABLE = `
  with asked as (
    select * from unnest(:reservationIds::uuid[], :quantities::int[], :matchIds::uuid[], :userIds::uuid[], :ofInvitations::bool[])
                  as a(id, quantity, match_id, user_id, of_invitation)
  ), seats_locked as (
    -- Held seats that no other transaction has locked.
    select id, reservation_id from seats where id = any(:seatIds::uuid[]) and status = 'held' for update skip locked
  ), fans_locked as (
    select ctid as row_ctid, match_id, user_id, reservation_ids from fan_seats
    where user_id = any(:userIds::uuid[]) and match_id = any(:matchIds::uuid[]) for no key update skip locked
  ), completable as (
    -- Holds with all of their seats locked, that their fan's row still lists. Those of invitations are in no fan's row.
    select asked.id, case when not of_invitation then fans_locked.row_ctid end as row_ctid
    from asked join seats_locked on seats_locked.reservation_id = asked.id left join fans_locked using (match_id, user_id)
    where of_invitation or asked.id = any(fans_locked.reservation_ids)
    group by asked.id, of_invitation, quantity, fans_locked.row_ctid having count(*) = quantity
  )`;

/** Locks the rows of the holds that COMPLETE_HOLDS will complete in the same transaction. */
export const LOCK_COMPLETABLE_HOLDS = namedSql<CompleteHoldsParameters>(
  'lock-completable-holds',
  `${COMPLETABLE} select id from completable`,
);

/** Completes the holds of a batch; see the guarantees above. Returns the ids of the completed holds. */
export const COMPLETE_HOLDS = namedSql<CompleteHoldsParameters>(
  'complete-holds',
  `${COMPLETABLE}, counted as (
    update fan_seats set revision = revision + 1, ${UNPAID_COUNT_FROM_NOW} where ctid = any(array(select row_ctid from completable))
  ), sold as (
    update seats set status = 'sold', expires_at = null
    where id = any(array(select id from seats_locked where reservation_id = any(array(select id from completable))))
  ), completed as (
    update reservations set status = 'completed', ended_at = now() where id = any(array(select id from completable))
  )
  select id from completable`,
);
