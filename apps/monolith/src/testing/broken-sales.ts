import { brokenQuotas } from './broken-quotas.ts';
import { brokenTransfers } from './broken-transfers.ts';
import type { SampleSale } from './sample-sale.ts';

// `%names` in the statements are placeholders for ids of the sample sale, see `fillIn`.

/** SQL for a free seat that was never reserved. */
const FREE = `(select id from seats where status = 'available' and match_id = '%match'
               and id not in (select seat_id from reservation_seats) order by id limit 1)`;
const TERRACE = `(select id from sectors where match_id = '%match' and kind = 'standing')`;
/** SQL for a released reservation without an order. */
const RELEASED = `(select id from reservations where match_id = '%match' and status = 'released'
                   and id not in (select reservation_id from orders) limit 1)`;

/**
 * SQL that inserts a ticket which the use case would not make: the given fields, and the other fields of a completed order's
 * ticket.
 */
function insertTicket(fields: { order_id?: string; seat_id?: string; status?: string }): string {
  const { order_id = 'order_id', seat_id = 'seat_id', status = `'valid'` } = fields;
  return `insert into tickets (id, order_id, match_id, user_id, seat_id, sector, holder_name, status)
          select gen_random_uuid(), ${order_id}, match_id, user_id, ${seat_id}, sector, 'Nobody', ${status}
          from tickets where seat_id = '%completedSeat' limit 1`;
}

/** SQL that inserts a living hold of this fan for these seats, without changing the seats. */
export function insertHold(userId: string, seats: string): string {
  return `
    insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents, currency,
                              expires_at)
      select '%new', match_id, sector_id, ${userId}, 'held', array_agg(id), count(*), 'East A', 2500, true, 2500 * count(*), 'EUR',
             now() + interval '5 minutes'
      from seats where id in ${seats} group by match_id, sector_id`;
}

const THREE_FREE = `(select id from seats where status = 'available' and row_label is not null and match_id = '%match' order by id limit 3)`;
/** SQL that marks the seats as held by a reservation, without changing the reservation. */
export const markHeld = (seats: string, reservation: string, until = `now() + interval '5 minutes'`): string =>
  `update seats set status = 'held', reservation_id = ${reservation}, expires_at = ${until} where id in ${seats}`;
/** Inserts a refund of this amount, as the sandbox stores it. */
export const insertRefund = (intent: string, cents: number): string =>
  `insert into sandbox_refunds values ('again', '${intent}', ${cents})`;
/** SQL that makes the seats available, without changing their reservation. */
const markFree = (seats: string): string =>
  `update seats set status = 'available', reservation_id = null, expires_at = null where id in ${seats}`;

/** Ways to break a sale, each with the names of the invariants that must then be broken. No other invariant may be broken. */
export const brokenSales: readonly (readonly [found: string, what: string, statements: string])[] = [
  ['one-living-ticket', 'a sold seat has a second ticket', `drop index if exists tickets_one_a_seat; ${insertTicket({})}`],

  [
    'sold-seats',
    'a free seat is marked sold with an unknown reservation',
    `update seats set status = 'sold', reservation_id = gen_random_uuid() where id = ${FREE}`,
  ],
  [
    'sold-seats',
    'a free seat is marked sold to a reservation that does not list it',
    `update seats set status = 'sold', reservation_id = '%completed' where id = ${FREE}`,
  ],
  [
    'sold-seats',
    'the seats of an unpaid order are marked sold',
    `update seats set status = 'sold', expires_at = null where reservation_id = '%awaiting'`,
  ],
  [
    'sold-seats fan-seats refunded-tickets',
    'a ticket is refunded without its seat, its order and its money',
    `update tickets set status = 'refunded' where seat_id = '%completedSeat'`,
  ],

  ['sector-capacity', 'a sector has one seat too few', `delete from seats where id = ${FREE}`],
  [
    'sector-capacity',
    'a seat of the sector belongs to another match',
    `update seats set match_id = gen_random_uuid() where id = ${FREE}`,
  ],
  ['sector-capacity', 'a seat belongs to an unknown sector', `update seats set sector_id = gen_random_uuid() where id = ${FREE}`],
  [
    'sector-capacity',
    'a sector has no seats',
    `insert into sectors select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'name', 'Nowhere'))).* from sectors c
       where c.kind = 'standing'`,
  ],

  [
    'reservation-sector',
    'a reserved seat is in another sector',
    `update reservations set sector_id = ${TERRACE} where id = '%completed'`,
  ],
  [
    'reservation-sector',
    'a reserved seat is of another match',
    `update reservations set seat_ids[1] = (select id from seats where match_id = '%queueMatch' and status = 'available' limit 1)
     where id = ${RELEASED}`,
  ],
  [
    'reservation-sector',
    'a reserved seat does not exist',
    `update reservations set seat_ids[1] = gen_random_uuid() where id = ${RELEASED}`,
  ],

  ['live-holds', 'a seat of a living hold is for sale', markFree(`('%heldSeat')`)],
  [
    'live-holds',
    'a seat is free before its hold ends',
    `update seats set expires_at = now() - interval '1 minute' where id = '%heldSeat'`,
  ],
  [
    'live-holds',
    'a seat is held after its hold ends',
    `update seats set expires_at = expires_at + interval '1 minute' where id = '%heldSeat'`,
  ],
  ['live-holds', 'a seat is held by an unknown reservation', markHeld(FREE, 'gen_random_uuid()')],
  [
    'live-holds',
    'a seat is held by a reservation that does not list it',
    markHeld(FREE, `'%held'`, `(select expires_at from reservations where id = '%held')`),
  ],
  [
    'live-holds',
    'a hold was released but its seats stay held',
    `update reservations set status = 'released', ended_at = now() where id = '%held'`,
  ],

  ['one-claim fan-seats', 'two living holds list the same seat', insertHold('gen_random_uuid()', `('%heldSeat')`)],
  ['one-claim fan-seats', 'a living hold lists a seat that was sold', insertHold('gen_random_uuid()', `('%completedSeat')`)],

  [
    'fan-limit fan-seats',
    'a fan with two tickets of a limit of four holds three more seats',
    `${insertHold(`'%fan'`, THREE_FREE)}; ${markHeld(THREE_FREE, `'%new'`, `(select expires_at from reservations where id = '%new')`)}`,
  ],

  [
    'fan-limit fan-seats',
    'a fan with two tickets holds three more seats an hour after the limit was lowered to three',
    `update matches set max_tickets_per_fan = 3, limit_lowered_at = now() - interval '1 hour';
     ${insertHold(`'%fan'`, THREE_FREE)}; ${markHeld(THREE_FREE, `'%new'`, `(select expires_at from reservations where id = '%new')`)}`,
  ],

  [
    'fan-seats',
    'a refunded ticket still counts towards the limit',
    `update fan_seats set received = received + 1 where user_id = '%partlyFan'`,
  ],
  [
    'unpaid-holds',
    'a paid reservation is counted as unpaid',
    `update fan_seats set unpaid_ids = reservation_ids where user_id = '%partlyFan'`,
  ],
  ['fan-seats', 'a fan with seats has no row in fan_seats', `delete from fan_seats where user_id = '%partlyFan'`],

  [
    'reservation-sums',
    'the quantity of a reservation is higher than its number of seats',
    `update reservations set quantity = 3 where id = ${RELEASED}`,
  ],
  [
    'reservation-sums',
    'the total of a reservation is higher than the prices of its seats',
    `update reservations set total_cents = total_cents + 1 where id = ${RELEASED}`,
  ],

  ['tickets', 'the seat of a ticket is for sale', markFree(`('%completedSeat')`)],
  [
    'fan-seats tickets',
    'an unpaid order has a ticket',
    insertTicket({ order_id: `'%awaitingOrder'::uuid`, seat_id: `'%awaitingSeat'::uuid` }),
  ],
  ['fan-seats tickets', 'a ticket belongs to an unknown order', insertTicket({ order_id: 'gen_random_uuid()', seat_id: FREE })],
  ['tickets', 'a ticket is for a seat that is not in its order', insertTicket({ seat_id: FREE, status: `'refunded'` })],
  [
    'fan-seats tickets',
    'a ticket is for another match than its order',
    `update tickets set match_id = '%queueMatch' where seat_id = '%completedSeat'`,
  ],

  [
    'fan-seats completed-orders',
    'the reservation of a completed order has the status expired',
    `update reservations set status = 'expired' where id = '%completed'`,
  ],
  [
    'completed-orders',
    'a completed order lacks a holder for one seat',
    `update orders set holders = holders - 0 where id = '%completedOrder'`,
  ],
  [
    'completed-orders',
    'a completed order has a holder for a foreign seat',
    `update orders set holders = holders || '[{"seatId": "another", "name": "Ana"}]' where id = '%completedOrder'`,
  ],
  [
    'completed-orders',
    'the holders of an order are not an array',
    `update orders set holders = '7' where id = '%completedOrder'`,
  ],
  [
    'fan-seats completed-orders',
    'a completed order lacks a ticket for one seat',
    `delete from tickets where seat_id = '%completedSeat'`,
  ],
  [
    'fan-seats completed-orders',
    'a completed reservation has no order',
    `update reservations set status = 'completed' where id = ${RELEASED}`,
  ],
  [
    'completed-orders',
    'an order belongs to another fan than its reservation',
    `delete from idempotency_keys; update orders set user_id = gen_random_uuid() where id = '%completedOrder'`,
  ],
  [
    'fan-seats completed-orders refunded-tickets',
    'all tickets of an order are refunded but the order is still completed',
    `update tickets set status = 'refunded' where order_id = '%completedOrder'; ${markFree(`(select seat_id from reservation_seats where reservation_id = '%completed')`)}`,
  ],
  [
    'completed-orders captured-payments',
    'the total of an order is higher than that of its reservation',
    `update orders set total_cents = total_cents + 1 where id = '%completedOrder'`,
  ],

  [
    'one-order-a-turn',
    'a second order of a used turn awaits payment',
    `drop index if exists orders_one_a_window;
     insert into orders select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'number', 'ORD-1', 'intent_id', null,
         'status', 'awaiting_payment', 'reservation_id', r.id))).*
       from orders o join reservations r on r.session_token = o.session_token and r.status = 'released'`,
  ],

  [
    'one-order-a-turn',
    'a completed order does not claim its turn',
    `update orders set claims_window = false where session_token is not null`,
  ],

  [
    'blacklist',
    'a fan has bought an hour after being blacklisted',
    `insert into blacklist_changes (user_id, action, by, at)
       select user_id, 'list', user_id, now() - interval '1 hour' from orders where id = '%completedOrder'`,
  ],
  [
    'blacklist',
    'a ticket was transferred to a fan who is blacklisted for a day',
    `insert into blacklist_changes (user_id, action, until, by, at)
       values ('%new', 'list', now() + interval '20 hours', '%new', now() - interval '4 hours');
     update tickets set user_id = '%new' where seat_id = '%completedSeat';
     update fan_seats set received = received - 1 where user_id = '%fan';
     insert into fan_seats (match_id, user_id, revision, reservation_ids, received) values ('%match', '%new', 1, '{}', 1)`,
  ],
  ...brokenTransfers,
  ['own-turn', 'a reservation was made in a turn of another fan', `update purchase_windows set user_id = gen_random_uuid()`],
  ['own-turn', 'a reservation was made in a turn that was never granted', `delete from purchase_windows`],

  [
    'references',
    'a timeline belongs to an unknown order',
    `update order_timeline set order_id = gen_random_uuid() where order_id = '%awaitingOrder'`,
  ],
  [
    'references',
    'the reservation of an order does not exist',
    `delete from reservations where id = '%cancelled'; delete from idempotency_keys`,
  ],
  ['references', 'the intent of an order is not stored', `delete from order_intents where intent_id = '%awaitingIntent'`],
  [
    'references',
    'a stored intent belongs to another order',
    `update order_intents set order_id = gen_random_uuid() where intent_id = '%awaitingIntent'`,
  ],

  [
    'captured-payments',
    'a payment was reported but its order still awaits payment',
    `insert into payment_inbox values ('evt_new', 'payment_intent.succeeded', '%awaitingIntent', 'succeeded')`,
  ],
  [
    'captured-payments',
    'a payment was captured but never reported',
    `update sandbox_intents set status = 'succeeded' where id = '%awaitingIntent'`,
  ],
  [
    'captured-payments',
    'a payment was reported for an unknown order',
    `insert into payment_inbox values ('evt_new', 'payment_intent.succeeded', 'pi_unknown', 'succeeded')`,
  ],
  [
    'captured-payments',
    'the sandbox captured another amount than the order’s total',
    `update sandbox_intents set amount_cents = 1 where id = '%completedIntent'`,
  ],
  [
    'captured-payments',
    'a provider other than the sandbox reported another amount',
    `update sandbox_intents set status = 'requires_payment' where id = '%completedIntent';
     update payment_inbox set amount_cents = 1 where intent_id = '%completedIntent'`,
  ],
  [
    'captured-payments',
    'a provider other than the sandbox reported another currency',
    `update sandbox_intents set status = 'requires_payment' where id = '%completedIntent';
     update payment_inbox set currency = 'HUF' where intent_id = '%completedIntent'`,
  ],
  [
    'captured-payments',
    'a refund of an order is lost from the outbox',
    `delete from outbox where destination = 'payments' and body ->> 'intentId' = '%pendingRefund'`,
  ],
  [
    'captured-payments',
    'a refund of an order is one cent less than was paid',
    `update sandbox_refunds set amount_cents = amount_cents - 1 where intent_id = '%refunded'`,
  ],

  [
    'paid-orders',
    'a completed order was never paid',
    `delete from payment_inbox where intent_id = '%completedIntent';
     update sandbox_intents set status = 'requires_payment' where id = '%completedIntent'`,
  ],

  [
    'refunded-tickets',
    'the refund of a ticket is one cent less than its price',
    `update sandbox_refunds set amount_cents = amount_cents - 1 where intent_id = '%partlyIntent'`,
  ],
  ['refunded-tickets', 'the refund of a ticket is lost', `delete from sandbox_refunds where intent_id = '%partlyIntent'`],
  [
    'refunded-tickets',
    'an order does not count its refunded ticket',
    `update orders set refunded_tickets = 0, refunded_cents = 0 where id = '%partlyOrder'`,
  ],
  [
    'refunded-tickets',
    'an order counts one refunded cent too many',
    `update orders set refunded_cents = refunded_cents + 1 where id = '%partlyOrder'`,
  ],
  ['refunds', 'the refund of a ticket is one cent more than its price', insertRefund('%partlyIntent', 1)],
  ['refunds', 'an order is refunded twice', insertRefund('%refunded', 5000)],
  ['refunds', 'money is refunded for a living ticket', insertRefund('%completedIntent', 2500)],
  ['refunds', 'an unpaid order is refunded', insertRefund('%awaitingIntent', 2500)],
  [
    'refunds',
    'the outbox contains a second refund of an order',
    `insert into outbox (id, destination, event, body)
       select gen_random_uuid(), destination, event, jsonb_set(body, '{key}', '"another"') from outbox where body ->> 'kind' = 'refund'`,
  ],
  [
    'refunds',
    'the outbox contains a refund that is higher than the payment a provider other than the sandbox reported',
    `update outbox set body = jsonb_set(body, '{amountCents}', '5001') where body ->> 'intentId' = '%pendingRefund' and body ->> 'kind' = 'refund';
     delete from sandbox_intents where id = '%pendingRefund'`,
  ],
  [
    'refunds',
    'money is refunded for an unknown order',
    `insert into sandbox_intents (id, order_id, amount_cents, currency, client_secret)
       values ('pi_' || repeat('0', 24), gen_random_uuid(), 1, 'EUR', 's'); ${insertRefund(`pi_${'0'.repeat(24)}`, 1)}`,
  ],

  ['idempotency-keys', 'an idempotency key has no answer', `insert into idempotency_keys values ('k', gen_random_uuid(), 'f')`],
  [
    'idempotency-keys',
    'an idempotency key stores a failed answer',
    `insert into idempotency_keys values ('k', gen_random_uuid(), 'f', 500, '')`,
  ],
  [
    'idempotency-keys',
    'the answer of an idempotency key names an unknown reservation',
    `insert into idempotency_keys (key, user_id, fingerprint, status, made) values ('k', gen_random_uuid(), 'f', 201, gen_random_uuid())`,
  ],
  [
    'idempotency-keys',
    "the answer of an idempotency key names another fan's order",
    `update idempotency_keys set user_id = gen_random_uuid() where location like '%orders/%awaitingOrder'`,
  ],

  [
    'lapsed-holds',
    'a hold expired 6 minutes ago and was not ended',
    `update reservations set expires_at = now() - interval '6 minutes' where id = '%held';
     update seats set expires_at = now() - interval '6 minutes' where reservation_id = '%held'`,
  ],
  [
    'lapsed-holds',
    'the hold of a seat expired 6 minutes ago and the seat was not freed',
    markHeld(FREE, 'gen_random_uuid()', `now() - interval '6 minutes'`),
  ],

  [
    'unpaid-orders',
    'an order awaits payment 16 minutes after its hold ended',
    `update reservations set status = 'expired', ended_at = now() - interval '16 minutes' where id = '%awaiting';
     ${markFree(`(select seat_id from reservation_seats where reservation_id = '%awaiting')`)}`,
  ],

  [
    'invitation-ends open-transfers cancelled-matches',
    'a match was cancelled two hours ago and its orders are still completed',
    `update matches set sale_status = 'closed', cancelled_at = now() - interval '2 hours' where id = '%match'`,
  ],
  [
    'open-transfers cancelled-matches',
    'a cancelled match is for sale',
    `alter table matches drop constraint if exists matches_cancelled_closed; update matches set cancelled_at = now() where id = '%match'`,
  ],

  [
    'parked-messages',
    'an outbox message is parked',
    `update outbox set parked_at = now(), attempts = 10 where destination = 'email'`,
  ],
  [
    'waiting-messages',
    'an outbox message has waited for 16 minutes',
    `update outbox set created_at = now() - interval '16 minutes' where destination = 'email'`,
  ],

  ...brokenQuotas,
];

/** Replaces the placeholders (`%name`) in the statements with the ids of this sample sale. */
export function fillIn(statements: string, sale: SampleSale): string {
  const { match, queueMatch, cancelled, completed, partlyRefunded, held, awaiting, refunded, pendingRefund, quota } = sale;
  const values: Record<string, string | undefined> = {
    match: match.id,
    queueMatch: queueMatch.id,
    fan: completed.userId,
    cancelled: cancelled.reservationId,
    completed: completed.reservationId,
    completedSeat: completed.seatIds[0],
    completedOrder: completed.orderId,
    completedIntent: completed.intentId,
    held: held.reservationId,
    heldSeat: held.seatIds[0],
    awaiting: awaiting.reservationId,
    awaitingSeat: awaiting.seatIds[0],
    awaitingOrder: awaiting.orderId,
    awaitingIntent: awaiting.intentId,
    partlyFan: partlyRefunded.userId,
    partlyOrder: partlyRefunded.orderId,
    partlyIntent: partlyRefunded.intentId,
    refunded: refunded.intentId,
    pendingRefund: pendingRefund.intentId,
    quota: quota.id,
    quotaFree: quota.freeSeat,
    quotaInvited: quota.invitedSeat,
    quotaPending: quota.pendingSeat,
    quotaReservation: quota.sold.reservationId,
    pendingMove: quota.pendingMove,
    new: '0190a000-0000-7000-8000-000000000001',
  };
  return statements.replaceAll(/%(\w+)/g, (placeholder, name: string) => values[name] ?? placeholder);
}
