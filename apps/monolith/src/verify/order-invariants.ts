import { lives, ofMatch, type Invariant } from './invariant.ts';

/** Orders, tickets and turns belong together: I3 and I11 of research/reliability.md. */
export const orderInvariants: readonly Invariant[] = [
  {
    name: 'reservation-sums',
    sentence: "a reservation's quantity and total are those of its seats",
    sql: `
      select r.id as reservation_id,
             case when l.n is distinct from r.quantity then 'lists ' || coalesce(l.n, 0) || ' seats and counts ' || r.quantity
                  when l.cents <> r.total_cents then 'its seats cost ' || l.cents || ' cents, it ' || r.total_cents end as problem
      from reservations r
        left join (select reservation_id, count(*) as n, sum(price_cents) as cents from reservation_seats group by reservation_id) l
          on l.reservation_id = r.id
      where ${ofMatch('r.match_id')}`,
  },
  {
    name: 'tickets',
    sentence: 'every ticket is for a seat of its order; while it lives the order is completed and the seat sold by it',
    sql: `
      select t.id as ticket_id, t.order_id, t.seat_id,
             case when o.id is null then 'its order does not exist'
                  when rs.seat_id is null then 'its order never had this seat'
                  when t.match_id <> o.match_id then 'for another match than its order'
                  when not (${lives('t')}) then null
                  when o.status <> 'completed' then 'lives, but its order is ' || o.status
                  when s.status is distinct from 'sold' then 'lives, but its seat is ' || coalesce(s.status, 'gone')
                  when s.reservation_id <> o.reservation_id then 'lives, but its seat was sold by another reservation' end as problem
      from tickets t
        left join orders o on o.id = t.order_id
        left join reservation_seats rs on rs.reservation_id = o.reservation_id and rs.seat_id = t.seat_id
        left join seats s on s.id = t.seat_id
      where ${ofMatch('t.match_id')}`,
  },
  {
    name: 'completed-orders',
    sentence: 'every completed order has a completed reservation of the same fan and price, one ticket a seat, and its holders',
    sql: `
      select o.id as order_id, r.id as reservation_id,
             case when o.id is null then 'a completed reservation without an order'
                  when o.status not in ('completed', 'refunded') then 'a completed reservation, but its order is ' || o.status
                  when o.status = 'refunded' then null
                  when r.status is distinct from 'completed' then 'its reservation is ' || coalesce(r.status, 'gone')
                  when (o.user_id, o.match_id) <> (r.user_id, r.match_id) then 'its reservation is another fan''s or of another match'
                  when (o.total_cents, o.currency) <> (r.total_cents, r.currency) then 'its reservation has another price'
                  when p.unticketed > 0 then p.unticketed || ' of its seats without exactly one ticket'
                  when not p.lives then 'completed, though none of its tickets lives'
                  when p.seat_ids is distinct from (${namedSeats('o.holders')}) then 'its holders are not those of its seats' end as problem
      from reservations r full join orders o on o.reservation_id = r.id
        left join (${ticketedOrders()}) p on p.order_id = o.id
      where (o.status = 'completed' or r.status = 'completed') and ${ofMatch('coalesce(o.match_id, r.match_id)')}`,
  },
  {
    name: 'one-order-a-turn',
    sentence: 'at most one order of a turn is awaiting payment, completed or refunded',
    // The token is the proof of a turn: it is not printed.
    sql: `
      select r.match_id, array_agg(o.id) as order_ids, case when count(*) > 1 then count(*) || ' orders of one turn' end as problem
      from orders o join reservations r on r.id = o.reservation_id
      where r.session_token is not null and o.status in ('awaiting_payment', 'completed', 'refunded') and ${ofMatch('r.match_id')}
      group by r.session_token, r.match_id`,
  },
  {
    name: 'own-turn',
    sentence: "every reservation made in a turn was made in its fan's own turn for this match",
    sql: `
      select r.id as reservation_id, r.user_id,
             case when w.session_token is null then 'made in a turn that nobody was granted'
                  when (w.user_id, w.match_id) <> (r.user_id, r.match_id) then 'made in a turn of another fan or match' end as problem
      from reservations r left join purchase_windows w on w.session_token = r.session_token
      where r.session_token is not null and ${ofMatch('r.match_id')}`,
  },
];

/**
 * Each completed order's seats, how many of them lack exactly one ticket, and whether any lives. A transferred ticket that
 * was replaced counts as none; two that live count as one, because one-living-ticket is there to find those.
 */
function ticketedOrders(): string {
  return `
    select order_id, array_agg(seat_id::text order by seat_id::text) as seat_ids, count(*) filter (where tickets <> 1) as unticketed,
           bool_or(lives) as lives
    from (select o.id as order_id, rs.seat_id, bool_or(t.id is not null and ${lives('t')}) as lives,
                 count(*) filter (where t.status = 'refunded') + least(1, count(*) filter (where ${lives('t')})) as tickets
          from orders o join reservation_seats rs on rs.reservation_id = o.reservation_id
            left join tickets t on t.order_id = o.id and t.seat_id = rs.seat_id
          where o.status = 'completed' and ${ofMatch('o.match_id')} group by o.id, rs.seat_id) seats
    group by order_id`;
}

function namedSeats(holders: string): string {
  const list = `case jsonb_typeof(${holders}) when 'array' then ${holders} else '[]' end`;
  return `select array_agg(h ->> 'seatId' order by h ->> 'seatId') from jsonb_array_elements(${list}) h`;
}
