import { namedSql } from '#platform/postgres/named-sql';

/*
 * Completes the holds of a batch of orders in one statement: marks seats as sold and reservations as completed.
 *
 * Guarantees
 * - All seats of a hold are sold or none.
 * - A hold is completed only if its fan's row in `fan_seats` still lists it. The revision in this row grows, so a hold request of
 *   the same fan whose seats were counted before must count again (`keepCounted` does the same for one hold).
 * - The statement waits for no row: it locks with `skip locked` before it updates, because an UPDATE alone would wait. If another
 *   transaction has locked a seat of a hold or the row of its fan, this hold does not change.
 *
 * How it stays fast: rows to update are selected by arrays, not by joins. The planner estimates one row for a batch, so it would
 * choose a join that compares each row with every other row.
 */

/** Arrays with one element for each hold; only `seatIds` is different: it has the seats of all holds. */
export interface CompleteHoldsParameters {
  readonly reservationIds: readonly string[];
  readonly quantities: readonly number[];
  readonly matchIds: readonly string[];
  readonly userIds: readonly string[];
  readonly seatIds: readonly string[];
}

/** A row of the result: a hold that was locked or completed. */
export interface CompletableHold {
  readonly id: string;
}

const COMPLETABLE = `
  with asked as (
    select * from unnest(:reservationIds::uuid[], :quantities::int[], :matchIds::uuid[], :userIds::uuid[])
                  as a(id, quantity, match_id, user_id)
  ), seats_locked as (
    -- Held seats that no other transaction has locked.
    select id, reservation_id from seats where id = any(:seatIds::uuid[]) and status = 'held' for update skip locked
  ), fans_locked as (
    select ctid as row_ctid, match_id, user_id, reservation_ids from fan_seats
    where user_id = any(:userIds::uuid[]) and match_id = any(:matchIds::uuid[]) for no key update skip locked
  ), completable as (
    -- Holds whose seats are all locked by us and that their fan's row still lists.
    select asked.id, fans_locked.row_ctid
    from asked join seats_locked on seats_locked.reservation_id = asked.id join fans_locked using (match_id, user_id)
    where asked.id = any(fans_locked.reservation_ids) group by asked.id, quantity, fans_locked.row_ctid having count(*) = quantity
  )`;

/** Locks the seats and fans' rows of the holds that COMPLETE_HOLDS will complete in the same transaction. Returns these holds. */
export const LOCK_COMPLETABLE_HOLDS = namedSql<CompleteHoldsParameters>(
  'lock-completable-holds',
  `${COMPLETABLE} select id from completable`,
);

/** Marks the seats as sold and the reservations as completed. Returns the completed holds. */
export const COMPLETE_HOLDS = namedSql<CompleteHoldsParameters>(
  'complete-holds',
  `${COMPLETABLE}, counted as (
    update fan_seats set revision = revision + 1 where ctid = any(array(select row_ctid from completable))
  ), sold as (
    update seats set status = 'sold', expires_at = null
    where id = any(array(select id from seats_locked where reservation_id = any(array(select id from completable))))
  ), completed as (
    update reservations set status = 'completed', ended_at = now() where id = any(array(select id from completable))
  )
  select id from completable`,
);
