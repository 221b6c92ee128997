import { namedSql } from '#platform/postgres/named-sql';
import { freedStatus } from '../../seat-is-free.api.ts';

/*
 * The expiry sweeper ends expired reservations in batches. A batch is one READ COMMITTED transaction with two statements.
 *
 * Guarantees
 * - A hold ends together with its order and its seats, or stays as it was. `reservation.expired` is written once.
 * - A payment or checkout that commits before the locks are taken is respected, because END_LOCKED_RESERVATIONS takes its snapshot
 *   after the locks. If both were one statement, it would not see the order of such a checkout, and this order would await its
 *   payment for ever.
 * - Seats that have a new owner keep that owner.
 * - It waits for no row. A reservation with a seat or order that another transaction has locked stays as it was until the next run.
 *
 * How it stays fast: rows to update are selected by arrays, not by joins. The planner estimates one row for a batch, so it would
 * execute a join by comparing every row with every other row.
 */

/**
 * Locks the next due reservations (expired and not yet swept), oldest first. They begin after the last reservation of the previous
 * batch, which is null in the first batch.
 */
export const LOCK_DUE_RESERVATIONS = namedSql<{
  readonly limit: number;
  readonly afterExpiresAt: string | null;
  readonly afterId: string | null;
}>(
  'lock-due-reservations',
  `
  select id, expires_at::text as "expiresAt" from reservations
  where not swept and expires_at <= now()
    and (:afterExpiresAt::timestamptz is null or (expires_at, id) > (:afterExpiresAt::timestamptz, :afterId::uuid))
  order by expires_at, id limit :limit for update skip locked`,
);

/** Ends the reservations that LOCK_DUE_RESERVATIONS has locked. */
export const END_LOCKED_RESERVATIONS = namedSql<{ readonly ids: readonly string[] }>(
  'end-locked-reservations',
  `
  with due as (
    -- Without those that were paid or released in time: they are only marked as swept.
    select id, match_id, sector_id, user_id, seat_ids from reservations where id = any(:ids::uuid[]) and status in ('held', 'ordered')
  ), seats_held as (
    -- The held seats of these reservations, and then those of them that no other transaction has locked.
    select id, reservation_id from seats
    where id = any(array(select unnest(seat_ids) from due)) and reservation_id = any(:ids::uuid[]) and status = 'held'
  ), seats_locked as (
    select id, reservation_id from seats
    where id = any(array(select unnest(seat_ids) from due)) and reservation_id = any(:ids::uuid[]) and status = 'held' for update skip locked
  ), orders_open as (
    -- The unpaid orders of these reservations, and then those of them that no other transaction has locked.
    select id, reservation_id from orders where reservation_id = any(:ids::uuid[]) and status = 'awaiting_payment'
  ), orders_locked as (
    select id, reservation_id from orders where reservation_id = any(:ids::uuid[]) and status = 'awaiting_payment' for update skip locked
  ), busy as (
    -- Reservations with a seat or order that could not be locked.
    select reservation_id from (select id, reservation_id from seats_held except select id, reservation_id from seats_locked) seats
    union select reservation_id from (select id, reservation_id from orders_open except select id, reservation_id from orders_locked) orders
  ), ended as (
    select * from due where id not in (select reservation_id from busy)
  ), swept as (
    -- Swept reservations are not read by later runs. Those that were paid or released in time keep their status.
    update reservations set swept = true, status = case when status in ('held', 'ordered') then 'expired' else status end,
                            ended_at = coalesce(ended_at, now())
    where id = any(:ids::uuid[]) and id not in (select reservation_id from busy)
  ), freed as (
    update seats set status = ${freedStatus('seats')}, reservation_id = null, expires_at = null
    where id = any(array(select id from seats_locked where reservation_id in (select id from ended)))
  ), orders_ended as (
    update orders set status = 'expired', claims_window = false
    where id = any(array(select id from orders_locked where reservation_id in (select id from ended))) returning id
  ), noted as (
    insert into order_timeline (order_id, event) select id, 'expired' from orders_ended
  ), announced as (
    insert into outbox (id, destination, event, aggregate_id, body)
    select gen_random_uuid(), 'events', 'reservation.expired', id::text,
           jsonb_build_object('event', 'reservation.expired', 'reservation_id', id, 'match_id', match_id, 'sector_id', sector_id, 'user_id', user_id)
    from ended
  )
  select count(*)::int as ended from ended`,
);
