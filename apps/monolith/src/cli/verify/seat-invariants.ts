import { AS_OF, holdEnd, isLivingHold, isLivingTicket, ofMatch, type Invariant } from './invariant.ts';

/**
 * The tickets that count towards the limit of a fan: those that the fan ever bought or accepted, also if they were given away, unless
 * their last owner's ticket was refunded. A ticket that came back to a fan counts once, from the first time on. Tickets of invitations
 * do not count.
 */
const COUNTED_TICKETS = `
  select t.match_id, t.user_id, t.order_id, t.seat_id,
         min(case when t.serial = 1 then coalesce(r.created_at, t.issued_at) else t.issued_at end) as got_at
  from tickets t
    join tickets last on last.order_id = t.order_id and last.seat_id = t.seat_id and ${isLivingTicket('last')}
    left join orders o on o.id = t.order_id left join reservations r on r.id = o.reservation_id
  where r.invitation_id is null and ${ofMatch('t.match_id')} group by t.match_id, t.user_id, t.order_id, t.seat_id`;

/** Invariants: no seat is held, sold or ticketed twice, and no fan has more seats than the limit. */
export const seatInvariants: readonly Invariant[] = [
  {
    name: 'one-living-ticket',
    sentence: 'no seat has two living tickets',
    sql: `
      select seat_id, array_agg(id) as ticket_ids, case when count(*) > 1 then count(*) || ' living tickets' end as problem
      from tickets t where ${isLivingTicket('t')} and ${ofMatch('t.match_id')} group by seat_id`,
  },
  {
    // Two related faults are left to other invariants. `completed-orders` reports a sold seat for which no ticket exists;
    // `tickets` reports a living ticket whose seat is not sold.
    name: 'sold-seats',
    sentence: 'every sold seat belongs to the reservation of a completed order and has a living ticket',
    sql: `
      select s.id as seat_id, s.reservation_id, o.id as order_id,
             case when o.id is null then 'sold, but its reservation has no completed order'
                  when t.id is not null then null
                  when exists (select 1 from tickets d where d.order_id = o.id and d.seat_id = s.id) then 'sold, but its ticket is not living'
                  when not exists (select 1 from reservation_seats rs where rs.reservation_id = s.reservation_id and rs.seat_id = s.id)
                    then 'sold to a reservation that does not list it' end as problem
      from seats s
        left join orders o on o.reservation_id = s.reservation_id and o.status = 'completed'
        left join tickets t on t.order_id = o.id and t.seat_id = s.id and ${isLivingTicket('t')}
      where s.status = 'sold' and ${ofMatch('s.match_id')}`,
  },
  {
    name: 'sector-capacity',
    sentence: 'every sector has exactly as many seats as its capacity, all of the same match',
    sql: `
      select coalesce(c.id, s.sector_id) as sector_id, coalesce(c.match_id, s.match_id) as match_id,
             case when c.id is null then s.n || ' seats in a sector that does not belong to their match'
                  when s.n is distinct from c.capacity then coalesce(s.n, 0) || ' seats, but a capacity of ' || c.capacity end as problem
      from (select id, match_id, capacity from sectors where ${ofMatch('match_id')}) c
        full join (select sector_id, match_id, count(*) as n from seats where ${ofMatch('match_id')} group by sector_id, match_id) s
          on s.sector_id = c.id and s.match_id = c.match_id`,
  },
  {
    name: 'reservation-sector',
    sentence: 'every reserved seat is in the sector and the match of its reservation',
    sql: `
      select rs.reservation_id, rs.seat_id,
             case when r.id is null then 'there is no such reservation'
                  when s.id is null then 'there is no such seat'
                  when s.match_id <> r.match_id then 'a seat of another match'
                  when s.sector_id <> r.sector_id then 'a seat of another sector' end as problem
      from reservation_seats rs left join reservations r on r.id = rs.reservation_id left join seats s on s.id = rs.seat_id
      where ${ofMatch('coalesce(r.match_id, s.match_id)')}`,
  },
  {
    // A seat that two living holds claim is reported by the invariant one-claim instead.
    name: 'live-holds',
    sentence: 'every seat of a living hold is held by it until the hold ends, and every held seat belongs to a living hold',
    sql: `
      select coalesce(l.seat_id, h.seat_id) as seat_id, coalesce(l.reservation_id, h.reservation_id) as reservation_id,
             case when l.seat_id is null then 'held, but its reservation is not a living hold with this seat'
                  when h.seat_id is null and not ${isClaimedElsewhere('l.seat_id', 'l.reservation_id')} then 'listed by a living hold, but not held by it'
                  when l.ends <> h.ends then 'the hold of the seat ends at another time than its reservation' end as problem
      from (select rs.seat_id, rs.reservation_id, ${holdEnd('r')} as ends from reservations r
              join reservation_seats rs on rs.reservation_id = r.id where ${isLivingHold('r')} and ${ofMatch('r.match_id')}) l
        full join (select s.id as seat_id, s.reservation_id, ${holdEnd('s')} as ends from seats s
                   where s.status = 'held' and ${holdEnd('s')} > ${AS_OF} and ${ofMatch('s.match_id')}) h using (seat_id, reservation_id)`,
  },
  {
    name: 'one-claim',
    sentence: 'no seat of a living hold is held by or sold to another living or completed reservation',
    sql: `
      select rs.seat_id, rs.reservation_id, s.reservation_id as other_reservation_id,
             case when s.reservation_id <> r.id and ${isClaimedElsewhere('s.id', 'r.id')} then 'claimed by two reservations' end as problem
      from reservations r join reservation_seats rs on rs.reservation_id = r.id join seats s on s.id = rs.seat_id
      where ${isLivingHold('r')} and ${ofMatch('r.match_id')}`,
  },
  {
    // Seats of invitations count for nobody. Seats bought before the limit was lowered may exceed the new limit. The extra minute in the query allows for holds that
    // were in progress when the limit was lowered.
    name: 'fan-limit',
    sentence:
      'no fan has more seats of a match than the limit at the time allowed, in living holds and in tickets that the fan ever had and that were not refunded',
    sql: `
      select h.match_id, h.user_id,
             case when count(distinct h.seat_id) > m.max_tickets_per_fan
                    and (m.limit_lowered_at is null or max(h.got_at) > m.limit_lowered_at + interval '1 minute')
                    then count(distinct h.seat_id) || ' seats, but only ' || m.max_tickets_per_fan || ' are allowed' end as problem
      from (select r.match_id, r.user_id, rs.seat_id, r.created_at as got_at
              from reservations r join reservation_seats rs on rs.reservation_id = r.id where ${isLivingHold('r')} and r.invitation_id is null and ${ofMatch('r.match_id')}
            union all select match_id, user_id, seat_id, got_at from (${COUNTED_TICKETS}) t) h
        join matches m on m.id = h.match_id
      group by h.match_id, h.user_id, m.max_tickets_per_fan, m.limit_lowered_at`,
  },
  {
    // The limit is checked with the counter in fan_seats, which has no seats of invitations: the fan's reservations, plus tickets
    // accepted, minus those that were refunded.
    name: 'fan-seats',
    sentence:
      'the seats that count towards a fan’s limit are those of living holds, and of tickets that the fan ever had and that were not refunded',
    sql: `
      select coalesce(c.match_id, h.match_id) as match_id, coalesce(c.user_id, h.user_id) as user_id,
             case when coalesce(c.n, 0) <> coalesce(h.n, 0) then coalesce(c.n, 0) || ' seats are counted, but the fan has ' || coalesce(h.n, 0) end as problem
      from (select f.match_id, f.user_id, f.received + coalesce(sum(r.quantity) filter (where r.status = 'completed' or ${isLivingHold('r')}), 0) as n
              from fan_seats f left join lateral unnest(f.reservation_ids) as listed(id) on true left join reservations r on r.id = listed.id
              where ${ofMatch('f.match_id')} group by f.match_id, f.user_id, f.received) c
        full join (select match_id, user_id, count(distinct seat_id) as n
                   from (select r.match_id, r.user_id, rs.seat_id from reservations r join reservation_seats rs on rs.reservation_id = r.id
                           where ${isLivingHold('r')} and r.invitation_id is null and ${ofMatch('r.match_id')}
                         union all select match_id, user_id, seat_id from (${COUNTED_TICKETS}) t) one
                   group by match_id, user_id) h on h.match_id = c.match_id and h.user_id = c.user_id`,
  },
  {
    // A fan who is wrongly blamed for unpaid holds cannot hold seats for a while.
    name: 'unpaid-holds',
    sentence:
      'every hold that is counted as unpaid is one of the fan’s own at this match, ended without a payment, and not of an invitation',
    sql: `
      select f.match_id, f.user_id, listed.id as reservation_id,
             case when listed.id is null then null
                  when r.id is null then 'there is no such reservation'
                  when r.user_id <> f.user_id or r.match_id <> f.match_id then 'a reservation of another fan or match'
                  when r.invitation_id is not null then 'a reservation of an invitation'
                  when r.status = 'completed' or ${isLivingHold('r')} then 'paid, or not ended' end as problem
      from fan_seats f left join lateral unnest(f.unpaid_ids) as listed(id) on true left join reservations r on r.id = listed.id
      where ${ofMatch('f.match_id')}`,
  },
];

/**
 * SQL condition: the seat is rightly taken, so the given reservation cannot hold it. Two things must be true. The seat is sold, or
 * its row names another reservation than the given one. And the reservation that the seat's row names contains this seat and is
 * completed or a living hold. The invariants evaluate the condition only for rows that already look wrong, because it is a subquery
 * per row.
 */
function isClaimedElsewhere(seatId: string, reservationId: string): string {
  return `exists (select 1 from seats x join reservation_seats xs on xs.seat_id = x.id and xs.reservation_id = x.reservation_id
                    join reservations xr on xr.id = x.reservation_id
                  where x.id = ${seatId} and (x.status = 'sold' or xr.id <> ${reservationId})
                    and (${isLivingHold('xr')} or xr.status = 'completed'))`;
}
