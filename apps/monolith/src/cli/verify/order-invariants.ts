import { isLivingTicket, ofMatch, type Invariant } from './invariant.ts';

/**
 * For each completed order: how many of its seats have no ticket (`unticketed`) or no holder name (`unnamed`), and whether it has
 * a living ticket. Tickets with the status `transferred` are skipped, because a new ticket replaced them.
 */
const SEATS_OF_ORDERS = `
  select o.id as order_id, count(*) filter (where t.id is null) as unticketed, coalesce(bool_or(${isLivingTicket('t')}), false) as has_living_ticket,
         count(*) filter (where not o.holders @> jsonb_build_array(jsonb_build_object('seatId', rs.seat_id))) as unnamed
  from orders o join reservation_seats rs on rs.reservation_id = o.reservation_id
    left join tickets t on t.order_id = o.id and t.seat_id = rs.seat_id and t.status <> 'transferred'
  where o.status = 'completed' and ${ofMatch('o.match_id')} group by o.id`;

/**
 * The periods in which fans were on the blacklist. Orders and tickets of the first minute of a period are no fault, because their
 * request may have begun before the period. So periods of up to a minute are skipped.
 */
const LISTED_PERIODS = `
  select user_id, at, ended from (
    select user_id, action, at, least(coalesce(until, 'infinity'), coalesce(lead(at) over (partition by user_id order by id), 'infinity')) as ended
    from blacklist_changes) c
  where action = 'list' and ended > at + interval '1 minute'`;

/** Invariants: reservations, orders, tickets and turns are consistent with each other. */
export const orderInvariants: readonly Invariant[] = [
  {
    name: 'reservation-sums',
    sentence: "every reservation's quantity and total match its seats",
    sql: `
      select r.id as reservation_id,
             case when l.n is distinct from r.quantity then 'has ' || coalesce(l.n, 0) || ' seats, but the quantity ' || r.quantity
                  when l.cents <> r.total_cents then 'its seats cost ' || l.cents || ' cents, but its total is ' || r.total_cents end as problem
      from reservations r
        left join (select reservation_id, count(*) as n, sum(price_cents) as cents from reservation_seats group by reservation_id) l
          on l.reservation_id = r.id
      where ${ofMatch('r.match_id')}`,
  },
  {
    name: 'tickets',
    sentence:
      'every ticket is for a seat of its order; the order of a living ticket is completed and its seat is sold to that order',
    sql: `
      select t.id as ticket_id, t.order_id, t.seat_id,
             case when o.id is null then 'its order does not exist'
                  when rs.seat_id is null then 'its order never had this seat'
                  when t.match_id <> o.match_id then 'for another match than its order'
                  when not (${isLivingTicket('t')}) then null
                  when o.status <> 'completed' then 'living, but its order is ' || o.status
                  when s.status is distinct from 'sold' then 'living, but its seat is ' || coalesce(s.status, 'missing')
                  when s.reservation_id <> o.reservation_id then 'living, but its seat was sold to another reservation' end as problem
      from tickets t
        left join orders o on o.id = t.order_id
        left join reservation_seats rs on rs.reservation_id = o.reservation_id and rs.seat_id = t.seat_id
        left join seats s on s.id = t.seat_id
      where ${ofMatch('t.match_id')}`,
  },
  {
    name: 'completed-orders',
    sentence:
      'every completed order has a completed reservation of the same fan and price, and a ticket and a holder for each seat',
    sql: `
      select o.id as order_id, r.id as reservation_id,
             case when o.id is null then 'a completed reservation without an order'
                  when o.status not in ('completed', 'refunded') then 'a completed reservation, but its order is ' || o.status
                  when o.status = 'refunded' then null
                  when r.status is distinct from 'completed' then 'its reservation is ' || coalesce(r.status, 'missing')
                  when (o.user_id, o.match_id) <> (r.user_id, r.match_id) then 'its reservation is another fan''s or of another match'
                  when (o.total_cents, o.currency) <> (r.total_cents, r.currency) then 'its reservation has another price'
                  when p.unticketed > 0 then p.unticketed || ' of its seats have no ticket'
                  when not p.has_living_ticket then 'completed, but it has no living ticket'
                  when p.unnamed > 0 then p.unnamed || ' of its seats have no holder'
                  when jsonb_array_length(o.holders) <> r.quantity then 'it also names holders for seats that are not its own' end as problem
      from reservations r full join orders o on o.reservation_id = r.id
        left join (${SEATS_OF_ORDERS}) p on p.order_id = o.id
      where (o.status = 'completed' or r.status = 'completed') and ${ofMatch('coalesce(o.match_id, r.match_id)')}`,
  },
  {
    name: 'one-order-a-turn',
    sentence: 'at most one order of a turn awaits payment or was completed, and that order claims the turn',
    // An order that was refunded because its payment came too late does not count: after it, the turn may have another order. The
    // session token is a secret, so it is not printed.
    sql: `
      select r.match_id, array_agg(o.id) as order_ids,
             case when count(*) > 1 then count(*) || ' orders of one turn'
                  when not bool_and(o.claims_window) then 'the order does not claim its turn' end as problem
      from orders o join reservations r on r.id = o.reservation_id
      where r.session_token is not null and (o.status in ('awaiting_payment', 'completed') or o.status = 'refunded' and o.completed_at is not null)
        and ${ofMatch('r.match_id')}
      group by r.session_token, r.match_id`,
  },
  {
    name: 'own-turn',
    sentence: 'every reservation with a session token belongs to the fan and the match of that turn',
    sql: `
      select r.id as reservation_id, r.user_id,
             case when w.session_token is null then 'made in a turn that was never granted'
                  when (w.user_id, w.match_id) <> (r.user_id, r.match_id) then 'made in a turn of another fan or match' end as problem
      from reservations r left join purchase_windows w on w.session_token = r.session_token
      where r.session_token is not null and ${ofMatch('r.match_id')}`,
  },
  {
    name: 'blacklist',
    sentence: 'no fan got an order or a ticket while on the blacklist',
    sql: `
      select g.order_id, g.ticket_id, g.user_id, case when b.at is not null then 'made for a fan listed since ' || b.at end as problem
      from (select id as order_id, null::uuid as ticket_id, user_id, created_at as at from orders where ${ofMatch('match_id')}
            union all select order_id, id, user_id, issued_at from tickets where ${ofMatch('match_id')}) g
        left join (${LISTED_PERIODS}) b on b.user_id = g.user_id and g.at > b.at + interval '1 minute' and g.at < b.ended`,
  },
  {
    // The tables have no foreign keys: see migrations/0001-baseline.sql. The invariant reservation-sector checks the references
    // to seats.
    name: 'references',
    sentence: 'every order has its reservation, and every payment intent and timeline entry has its order',
    isGlobal: true,
    sql: `
      select o.id as order_id, o.reservation_id, null as intent_id,
             case when r.id is null then 'its reservation does not exist' end as problem
      from orders o left join reservations r on r.id = o.reservation_id
      union all
      select coalesce(o.id, i.order_id), null, coalesce(o.intent_id, i.intent_id),
             case when i.intent_id is null then 'its intent is not stored, so a payment would not find the order'
                  when o.id is null then 'an intent of an order that does not exist or has another intent' end
      from (select id, intent_id from orders where intent_id is not null) o
        full join order_intents i on i.intent_id = o.intent_id and i.order_id = o.id
      union all
      select t.order_id, null, null, case when o.id is null then 'a timeline of an order that does not exist' end
      from (select distinct order_id from order_timeline) t left join orders o on o.id = t.order_id`,
  },
];
