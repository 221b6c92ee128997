import { isLivingTicket, ofMatch, type Invariant } from './invariant.ts';

/**
 * Refunds: those that the sandbox has carried out, and those that still wait in the outbox. A refund may be in both places, with
 * the same key. If the provider is not the sandbox, we see only the refunds in the outbox, because that provider keeps its own
 * records.
 */
const REFUNDS = `
  select key, intent_id, amount_cents::bigint as cents from sandbox_refunds
  union select body ->> 'key', body ->> 'intentId', (body ->> 'amountCents')::bigint from outbox
        where destination = 'payments' and body ->> 'kind' = 'refund'`;

const REFUNDED_AMOUNTS = `select intent_id, sum(cents) as cents from (${REFUNDS}) f group by intent_id`;

/** Successful payments that the provider reported to us. */
const REPORTED = `select intent_id, max(amount_cents) as amount_cents, max(currency) as currency from payment_inbox where outcome = 'succeeded' group by intent_id`;

/** Every captured payment: as the provider reported it, and as the sandbox recorded it. */
const CAPTURED = `
  select coalesce(e.intent_id, i.id) as intent_id, e.intent_id is not null as reported, i.amount_cents as booked_cents,
         coalesce(i.amount_cents, e.amount_cents) as amount_cents, coalesce(i.currency, e.currency) as currency
  from (${REPORTED}) e
    full join (select id, amount_cents, currency from sandbox_intents where status in ('succeeded', 'refunded')) i on i.id = e.intent_id`;

/** For each order, the number and total price of the seats whose tickets were refunded and that have no living ticket. */
const REFUNDED_SEATS = `
  select order_id, sum(price_cents) as cents, count(*) as n
  from (select t.order_id, rs.price_cents from tickets t
          join orders o on o.id = t.order_id
          join reservation_seats rs on rs.reservation_id = o.reservation_id and rs.seat_id = t.seat_id
        group by t.order_id, rs.seat_id, rs.price_cents
        having bool_or(t.status = 'refunded') and not bool_or(${isLivingTicket('t')})) refunded
  group by order_id`;

/** Invariants: every captured payment either belongs to a completed order or is refunded, exactly once. */
export const paymentInvariants: readonly Invariant[] = [
  {
    name: 'captured-payments',
    sentence: 'every captured payment is a completed order over the same amount, or is refunded in full',
    sql: `
      select c.intent_id, o.id as order_id,
             case when not c.reported and w.intent_id is not null then null
                  when not c.reported then 'captured by the sandbox, but never reported to us'
                  when o.id is null then 'captured for an order that does not exist'
                  when o.status not in ('completed', 'refunded') then 'captured, but its order is ' || o.status
                  when o.status = 'completed' and (c.amount_cents, c.currency) <> (o.total_cents, o.currency) then 'captured over another amount than the order''s'
                  when o.status = 'refunded' and coalesce(b.cents, 0) < c.booked_cents
                    then coalesce(b.cents, 0) || ' of ' || c.booked_cents || ' cents were refunded or wait in the outbox'
             end as problem
      from (${CAPTURED}) c
        left join orders o on o.intent_id = c.intent_id
        left join (${REFUNDED_AMOUNTS}) b on b.intent_id = c.intent_id
        left join (select distinct aggregate_id as intent_id from outbox where destination = 'sandbox-webhook') w on w.intent_id = c.intent_id
      where ${ofMatch('o.match_id')}`,
  },
  {
    name: 'paid-orders',
    sentence: 'every completed or refunded order was paid for',
    sql: `
      select o.id as order_id, o.intent_id, case when p.intent_id is null then o.status || ', but no payment for it was reported' end as problem
      from orders o left join (${REPORTED}) p on p.intent_id = o.intent_id
      where o.status in ('completed', 'refunded') and o.total_cents > 0 and ${ofMatch('o.match_id')}`,
  },
  {
    name: 'refunded-tickets',
    sentence: 'the refunded tickets and cents that an order counts match its tickets, and at least that much money is refunded',
    sql: `
      select o.id as order_id, o.intent_id,
             case when o.refunded_tickets <> coalesce(d.n, 0) then 'counts ' || o.refunded_tickets || ' refunded tickets, but has ' || coalesce(d.n, 0)
                  when o.refunded_cents <> coalesce(d.cents, 0) then 'counts ' || o.refunded_cents || ' refunded cents, but its refunded tickets cost ' || coalesce(d.cents, 0)
                  when o.provider = 'sandbox' and coalesce(b.cents, 0) < coalesce(d.cents, 0)
                    then coalesce(b.cents, 0) || ' of ' || d.cents || ' cents were refunded or wait in the outbox' end as problem
      from orders o left join (${REFUNDED_SEATS}) d on d.order_id = o.id left join (${REFUNDED_AMOUNTS}) b on b.intent_id = o.intent_id
      where (d.order_id is not null or o.refunded_tickets > 0 or o.refunded_cents > 0) and ${ofMatch('o.match_id')}`,
  },
  {
    name: 'refunds',
    sentence: 'no money is refunded twice, or for a living ticket',
    sql: `
      select b.intent_id, o.id as order_id,
             case when o.id is null then 'refunded for an order that does not exist'
                  when o.status = 'refunded' and b.cents > coalesce(i.amount_cents, p.amount_cents)
                    then b.cents || ' cents are refunded, more than were paid'
                  when o.status = 'completed' and b.cents > coalesce(d.cents, 0)
                    then b.cents || ' cents are refunded, but the refunded tickets cost only ' || coalesce(d.cents, 0)
                  when o.status not in ('completed', 'refunded') then 'refunded, but its order is ' || o.status end as problem
      from (${REFUNDED_AMOUNTS}) b
        left join orders o on o.intent_id = b.intent_id
        left join sandbox_intents i on i.id = b.intent_id
        left join (${REPORTED}) p on p.intent_id = b.intent_id
        left join (${REFUNDED_SEATS}) d on d.order_id = o.id
      where ${ofMatch('o.match_id')}`,
  },
];
