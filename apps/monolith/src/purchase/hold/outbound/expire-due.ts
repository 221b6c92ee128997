import { runReadCommitted } from '#platform/postgres/read-committed';
import type { DataSource } from 'typeorm';
import type { ExpiredBatch } from '../application/reservation-ports.ts';

/** Locks the next due reservations, oldest first, after the last one of the batch before. `$2` is null in the first batch. */
const LOCK_DUE = `
  select id, expires_at::text as "expiresAt" from reservations
  where not swept and expires_at <= now() and ($2::timestamptz is null or (expires_at, id) > ($2::timestamptz, $3::uuid))
  order by expires_at, id limit $1 for update skip locked`;

/**
 * Ends the locked reservations ($1). A second statement on purpose: its snapshot is younger than the locks, so it sees the order
 * of a checkout that committed just before. In one statement with LOCK_DUE that order would be invisible, and would await its
 * payment for ever.
 *
 * Waits for no row. A reservation with a seat or an order that somebody else has locked is left as it is, whole, for the next run.
 * Seats that name another holder by now keep that holder. The event is written with the change of state: once a reservation.
 * Rows are named by arrays, not joined: the planner takes the batch for one row and would look at each for each.
 */
const END_LOCKED = `
  with due as (
    select id, match_id, sector_id, user_id, seat_ids from reservations where id = any($1::uuid[]) and status in ('held', 'ordered')
  ), seats_held as (
    select id, reservation_id from seats
    where id = any(array(select unnest(seat_ids) from due)) and reservation_id = any($1::uuid[]) and status = 'held'
  ), seats_locked as (
    select id, reservation_id from seats
    where id = any(array(select unnest(seat_ids) from due)) and reservation_id = any($1::uuid[]) and status = 'held' for update skip locked
  ), orders_open as (
    select id, reservation_id from orders where reservation_id = any($1::uuid[]) and status = 'awaiting_payment'
  ), orders_locked as (
    select id, reservation_id from orders where reservation_id = any($1::uuid[]) and status = 'awaiting_payment' for update skip locked
  ), busy as (
    select reservation_id from (select id, reservation_id from seats_held except select id, reservation_id from seats_locked) seats
    union select reservation_id from (select id, reservation_id from orders_open except select id, reservation_id from orders_locked) orders
  ), ended as (
    select * from due where id not in (select reservation_id from busy)
  ), swept as (
    update reservations set swept = true, status = case when status in ('held', 'ordered') then 'expired' else status end,
                            ended_at = coalesce(ended_at, now())
    where id = any($1::uuid[]) and id not in (select reservation_id from busy)
  ), freed as (
    update seats set status = 'available', reservation_id = null, expires_at = null
    where id = any(array(select id from seats_locked where reservation_id in (select id from ended)))
  ), orders_ended as (
    update orders set status = 'expired', claims_window = false
    where id = any(array(select id from orders_locked where reservation_id in (select id from ended))) returning id
  ), noted as (
    insert into order_timeline (order_id, event) select id, 'expired' from orders_ended
  ), told as (
    insert into outbox (id, destination, event, aggregate_id, body)
    select gen_random_uuid(), 'events', 'reservation.expired', id::text,
           jsonb_build_object('event', 'reservation.expired', 'reservation_id', id, 'match_id', match_id, 'sector_id', sector_id, 'user_id', user_id)
    from ended
  ) select count(*)::int as ended from ended`;

/** One transaction a batch: its rows are locked for some milliseconds. */
export function expireDue(dataSource: DataSource, limit: number, after: ExpiredBatch['next']): Promise<ExpiredBatch> {
  return runReadCommitted(dataSource, async (tx) => {
    const due = await tx.query<{ id: string; expiresAt: string }>(LOCK_DUE, [limit, after?.expiresAt ?? null, after?.id ?? null]);
    const examined = due.rows.length;
    if (examined === 0) return { examined, ended: 0 };
    const { rows } = await tx.query<{ ended: number }>(END_LOCKED, [due.rows.map(({ id }) => id)]);
    const ended = rows[0]?.ended ?? 0;
    return examined < limit ? { examined, ended } : { examined, ended, next: due.rows.at(-1) };
  });
}
