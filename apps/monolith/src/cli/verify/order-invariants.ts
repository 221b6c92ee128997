import { lives, ofMatch, type Invariant } from './invariant.ts';

/** Each completed order's seats: how many lack a ticket or a holder, and whether a ticket lives. A transferred one was replaced. */
const PLACES = `
  select o.id as order_id, count(*) filter (where t.id is null) as unticketed, coalesce(bool_or(${lives('t')}), false) as lives,
         count(*) filter (where not o.holders @> jsonb_build_array(jsonb_build_object('seatId', rs.seat_id))) as unnamed
  from orders o join reservation_seats rs on rs.reservation_id = o.reservation_id
    left join tickets t on t.order_id = o.id and t.seat_id = rs.seat_id and t.status <> 'transferred'
  where o.status = 'completed' and ${ofMatch('o.match_id')} group by o.id`;

/** When fans were on the blacklist. What had begun before may come to its end within a minute: no request lives longer. */
const BARRED = `
  select user_id, at, ended from (
    select user_id, action, at, least(coalesce(until, 'infinity'), coalesce(lead(at) over (partition by user_id order by id), 'infinity')) as ended
    from blacklist_changes) c
  where action = 'list' and ended > at + interval '1 minute'`;

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
    sentence: 'every completed order has a completed reservation of the same fan and price, a ticket and a holder for each seat',
    sql: `
      select o.id as order_id, r.id as reservation_id,
             case when o.id is null then 'a completed reservation without an order'
                  when o.status not in ('completed', 'refunded') then 'a completed reservation, but its order is ' || o.status
                  when o.status = 'refunded' then null
                  when r.status is distinct from 'completed' then 'its reservation is ' || coalesce(r.status, 'gone')
                  when (o.user_id, o.match_id) <> (r.user_id, r.match_id) then 'its reservation is another fan''s or of another match'
                  when (o.total_cents, o.currency) <> (r.total_cents, r.currency) then 'its reservation has another price'
                  when p.unticketed > 0 then p.unticketed || ' of its seats without a ticket'
                  when not p.lives then 'completed, though none of its tickets lives'
                  when p.unnamed > 0 then p.unnamed || ' of its seats without a holder'
                  when jsonb_array_length(o.holders) <> r.quantity then 'it names holders of other seats too' end as problem
      from reservations r full join orders o on o.reservation_id = r.id
        left join (${PLACES}) p on p.order_id = o.id
      where (o.status = 'completed' or r.status = 'completed') and ${ofMatch('coalesce(o.match_id, r.match_id)')}`,
  },
  {
    name: 'one-order-a-turn',
    sentence: 'of the orders of a turn at most one awaits payment or was completed, and that one claims the turn',
    // An order refunded because it was paid too late has given its turn up. The token, the proof of a turn, is not printed.
    sql: `
      select r.match_id, array_agg(o.id) as order_ids,
             case when count(*) > 1 then count(*) || ' orders of one turn'
                  when not bool_and(o.claims_window) then 'does not claim its turn' end as problem
      from orders o join reservations r on r.id = o.reservation_id
      where r.session_token is not null and (o.status in ('awaiting_payment', 'completed') or o.status = 'refunded' and o.completed_at is not null)
        and ${ofMatch('r.match_id')}
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
  {
    name: 'blacklist',
    sentence: 'nobody was given an order or a ticket while on the blacklist',
    sql: `
      select g.order_id, g.ticket_id, g.user_id, case when b.at is not null then 'made for a fan listed since ' || b.at end as problem
      from (select id as order_id, null::uuid as ticket_id, user_id, created_at as at from orders where ${ofMatch('match_id')}
            union all select order_id, id, user_id, issued_at from tickets where ${ofMatch('match_id')}) g
        left join (${BARRED}) b on b.user_id = g.user_id and g.at > b.at + interval '1 minute' and g.at < b.ended`,
  },
  {
    // No foreign keys keep them: see migrations/0005-purchase.sql. Seats are looked at by reservation-sector.
    name: 'references',
    sentence: 'every order has its reservation, every intent and every line of a timeline its order',
    isGlobal: true,
    sql: `
      select o.id as order_id, o.reservation_id, null as intent_id,
             case when r.id is null then 'its reservation does not exist' end as problem
      from orders o left join reservations r on r.id = o.reservation_id
      union all
      select coalesce(o.id, i.order_id), null, coalesce(o.intent_id, i.intent_id),
             case when i.intent_id is null then 'no payment for its intent would find it'
                  when o.id is null then 'an intent of an order that does not exist, or has another' end
      from (select id, intent_id from orders where intent_id is not null) o
        full join order_intents i on i.intent_id = o.intent_id and i.order_id = o.id
      union all
      select t.order_id, null, null, case when o.id is null then 'a timeline of an order that does not exist' end
      from (select distinct order_id from order_timeline) t left join orders o on o.id = t.order_id`,
  },
];
