import { lives, ofMatch, type Invariant } from './invariant.ts';

/**
 * Money that goes back: carried out at the sandbox, or still on its way there (under the same key it may be both). Another
 * provider keeps its own books: of what it gave back we see only what is on its way.
 */
const REFUNDS = `
  select key, intent_id, amount_cents::bigint as cents from sandbox_refunds
  union select body ->> 'key', body ->> 'intentId', (body ->> 'amountCents')::bigint from outbox
        where destination = 'payments' and body ->> 'kind' = 'refund'`;

const GIVEN_BACK = `select intent_id, sum(cents) as cents from (${REFUNDS}) f group by intent_id`;

const TOLD = `select intent_id, max(amount_cents) as amount_cents, max(currency) as currency from payment_inbox where outcome = 'succeeded' group by intent_id`;

/** Every payment that was taken: as the provider told us, and as the sandbox has it in its own books. */
const CAPTURED = `
  select coalesce(e.intent_id, i.id) as intent_id, e.intent_id is not null as told, i.amount_cents as booked_cents,
         coalesce(i.amount_cents, e.amount_cents) as amount_cents, coalesce(i.currency, e.currency) as currency
  from (${TOLD}) e
    full join (select id, amount_cents, currency from sandbox_intents where status in ('succeeded', 'refunded')) i on i.id = e.intent_id`;

/** What an order that was refunded in part owes: the prices of the places whose tickets are dead. */
const REFUNDED_SEATS = `
  select order_id, sum(price_cents) as cents, count(*) as n
  from (select t.order_id, rs.price_cents from tickets t
          join orders o on o.id = t.order_id
          join reservation_seats rs on rs.reservation_id = o.reservation_id and rs.seat_id = t.seat_id
        group by t.order_id, rs.seat_id, rs.price_cents
        having bool_or(t.status = 'refunded') and not bool_or(${lives('t')})) dead
  group by order_id`;

/** Captured is completed or given back, once: I4 of research/reliability.md. */
export const paymentInvariants: readonly Invariant[] = [
  {
    name: 'captured-payments',
    sentence: 'every payment taken is a completed order over the same amount, or goes back in full',
    sql: `
      select c.intent_id, o.id as order_id,
             case when not c.told and w.intent_id is not null then null
                  when not c.told then 'taken by the sandbox, and we never heard of it'
                  when o.id is null then 'taken for an order that does not exist'
                  when o.status not in ('completed', 'refunded') then 'taken, but its order is ' || o.status
                  when o.status = 'completed' and (c.amount_cents, c.currency) <> (o.total_cents, o.currency) then 'taken over another amount than the order''s'
                  when o.status = 'refunded' and coalesce(b.cents, 0) < c.booked_cents
                    then coalesce(b.cents, 0) || ' of ' || c.booked_cents || ' cents went back or are on their way'
             end as problem
      from (${CAPTURED}) c
        left join orders o on o.intent_id = c.intent_id
        left join (${GIVEN_BACK}) b on b.intent_id = c.intent_id
        left join (select distinct aggregate_id as intent_id from outbox where destination = 'sandbox-webhook') w on w.intent_id = c.intent_id
      where ${ofMatch('o.match_id')}`,
  },
  {
    name: 'paid-orders',
    sentence: 'every completed or refunded order was paid for',
    sql: `
      select o.id as order_id, o.intent_id, case when p.intent_id is null then o.status || ', but no payment for it was reported' end as problem
      from orders o left join (${TOLD}) p on p.intent_id = o.intent_id
      where o.status in ('completed', 'refunded') and o.total_cents > 0 and ${ofMatch('o.match_id')}`,
  },
  {
    name: 'refunded-tickets',
    sentence: 'an order counts the tickets that were refunded of it and what they cost, and no less goes back',
    sql: `
      select o.id as order_id, o.intent_id,
             case when o.refunded_tickets <> coalesce(d.n, 0) then 'counts ' || o.refunded_tickets || ' refunded tickets, and there are ' || coalesce(d.n, 0)
                  when o.refunded_cents <> coalesce(d.cents, 0) then 'counts ' || o.refunded_cents || ' refunded cents, and its dead tickets cost ' || coalesce(d.cents, 0)
                  when o.provider = 'sandbox' and coalesce(b.cents, 0) < coalesce(d.cents, 0)
                    then coalesce(b.cents, 0) || ' of ' || d.cents || ' cents went back or are on their way' end as problem
      from orders o left join (${REFUNDED_SEATS}) d on d.order_id = o.id left join (${GIVEN_BACK}) b on b.intent_id = o.intent_id
      where (d.order_id is not null or o.refunded_tickets > 0 or o.refunded_cents > 0) and ${ofMatch('o.match_id')}`,
  },
  {
    name: 'refunds',
    sentence: 'no money goes back twice, nor for a ticket that lives',
    sql: `
      select b.intent_id, o.id as order_id,
             case when o.id is null then 'goes back for an order that does not exist'
                  when o.status = 'refunded' and b.cents > coalesce(i.amount_cents, p.amount_cents)
                    then b.cents || ' cents go back, more than were paid'
                  when o.status = 'completed' and b.cents > coalesce(d.cents, 0)
                    then b.cents || ' cents go back, but dead tickets cost only ' || coalesce(d.cents, 0)
                  when o.status not in ('completed', 'refunded') then 'goes back, but its order is ' || o.status end as problem
      from (${GIVEN_BACK}) b
        left join orders o on o.intent_id = b.intent_id
        left join sandbox_intents i on i.id = b.intent_id
        left join (${TOLD}) p on p.intent_id = b.intent_id
        left join (${REFUNDED_SEATS}) d on d.order_id = o.id
      where ${ofMatch('o.match_id')}`,
  },
];
