import type { SampleSale } from './sample-sale.ts';

/** Nobody has ever had it. */
const FREE = `(select id from seats where status = 'available' and match_id = '%match'
               and id not in (select seat_id from reservation_seats) order by id limit 1)`;
const TERRACE = `(select id from sectors where match_id = '%match' and kind = 'standing')`;
/** Ended, without an order. */
const RELEASED = `(select id from reservations where match_id = '%match' and status = 'released'
                   and id not in (select reservation_id from orders) limit 1)`;

/** A ticket as the use case would not have made it: the fields that are given, the rest of a completed order's. */
function ticket(fields: { order_id?: string; seat_id?: string; status?: string }): string {
  const { order_id = 'order_id', seat_id = 'seat_id', status = `'valid'` } = fields;
  return `insert into tickets (id, order_id, match_id, user_id, seat_id, sector, holder_name, status)
          select gen_random_uuid(), ${order_id}, match_id, user_id, ${seat_id}, sector, 'Nobody', ${status}
          from tickets where seat_id = '%completedSeat' limit 1`;
}

/** A living hold of this fan that lists these seats, without having taken them. */
export function listed(userId: string, seats: string): string {
  return `
    insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents, currency,
                              expires_at)
      select '%new', match_id, sector_id, ${userId}, 'held', array_agg(id), count(*), 'East A', 2500, true, 2500 * count(*), 'EUR',
             now() + interval '5 minutes'
      from seats where id in ${seats} group by match_id, sector_id`;
}

const THREE_FREE = `(select id from seats where status = 'available' and row_label is not null and match_id = '%match' order by id limit 3)`;
export const take = (seats: string, reservation: string, until = `now() + interval '5 minutes'`): string =>
  `update seats set status = 'held', reservation_id = ${reservation}, expires_at = ${until} where id in ${seats}`;
export const refund = (intent: string, cents: number): string =>
  `insert into sandbox_refunds values ('again', '${intent}', ${cents})`;
const give = (seats: string): string =>
  `update seats set status = 'available', reservation_id = null, expires_at = null where id in ${seats}`;

/** Every way in which a sale may be wrong, and which invariants have to find it: exactly those, and no other. */
export const brokenSales: readonly (readonly [found: string, what: string, statements: string])[] = [
  ['one-living-ticket', 'a second ticket for a sold seat', `drop index if exists tickets_one_a_seat; ${ticket({})}`],

  [
    'sold-seats',
    'a free seat is sold to no reservation',
    `update seats set status = 'sold', reservation_id = gen_random_uuid() where id = ${FREE}`,
  ],
  [
    'sold-seats',
    'a free seat is sold to a reservation that does not list it',
    `update seats set status = 'sold', reservation_id = '%completed' where id = ${FREE}`,
  ],
  [
    'sold-seats',
    'seats are sold before they are paid',
    `update seats set status = 'sold', expires_at = null where reservation_id = '%awaiting'`,
  ],
  [
    'sold-seats fan-seats refunded-tickets',
    'a ticket is refunded, and nothing else of it is',
    `update tickets set status = 'refunded' where seat_id = '%completedSeat'`,
  ],

  ['sector-capacity', 'a seat too few', `delete from seats where id = ${FREE}`],
  ['sector-capacity', 'a seat of another match', `update seats set match_id = gen_random_uuid() where id = ${FREE}`],
  ['sector-capacity', 'a seat of an unknown sector', `update seats set sector_id = gen_random_uuid() where id = ${FREE}`],
  [
    'sector-capacity',
    'a sector without seats',
    `insert into sectors select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'name', 'Nowhere'))).* from sectors c
       where c.kind = 'standing'`,
  ],

  ['reservation-sector', 'a seat of another sector', `update reservations set sector_id = ${TERRACE} where id = '%completed'`],
  [
    'reservation-sector',
    'a seat of another match',
    `update reservations set seat_ids[1] = (select id from seats where match_id = '%queueMatch' and status = 'available' limit 1)
     where id = ${RELEASED}`,
  ],
  [
    'reservation-sector',
    'a seat that does not exist',
    `update reservations set seat_ids[1] = gen_random_uuid() where id = ${RELEASED}`,
  ],

  ['live-holds', 'a seat of a living hold is for sale', give(`('%heldSeat')`)],
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
  ['live-holds', 'a seat is held by nobody', take(FREE, 'gen_random_uuid()')],
  [
    'live-holds',
    'a seat is held by a hold that does not list it',
    take(FREE, `'%held'`, `(select expires_at from reservations where id = '%held')`),
  ],
  [
    'live-holds',
    'a hold was ended, its seats were not',
    `update reservations set status = 'released', ended_at = now() where id = '%held'`,
  ],

  ['one-claim fan-seats', 'two living holds list the same seat', listed('gen_random_uuid()', `('%heldSeat')`)],
  ['one-claim fan-seats', 'a living hold lists a seat that was sold', listed('gen_random_uuid()', `('%completedSeat')`)],

  [
    'fan-limit fan-seats',
    'who has bought two of four holds three more',
    `${listed(`'%fan'`, THREE_FREE)}; ${take(THREE_FREE, `'%new'`, `(select expires_at from reservations where id = '%new')`)}`,
  ],

  [
    'fan-limit fan-seats',
    'who has bought two of three, since the limit was lowered an hour ago, holds three more',
    `update matches set max_tickets_per_fan = 3, limit_lowered_at = now() - interval '1 hour';
     ${listed(`'%fan'`, THREE_FREE)}; ${take(THREE_FREE, `'%new'`, `(select expires_at from reservations where id = '%new')`)}`,
  ],

  [
    'fan-seats',
    'a refunded ticket goes on counting',
    `update fan_seats set received = received + 1 where user_id = '%partlyFan'`,
  ],
  ['fan-seats', 'a fan with seats for whom nothing counts', `delete from fan_seats where user_id = '%partlyFan'`],

  [
    'reservation-sums',
    'a reservation counts more seats than it lists',
    `update reservations set quantity = 3 where id = ${RELEASED}`,
  ],
  [
    'reservation-sums',
    'a reservation costs more than its seats',
    `update reservations set total_cents = total_cents + 1 where id = ${RELEASED}`,
  ],

  ['tickets', 'the seat of a ticket is for sale', give(`('%completedSeat')`)],
  [
    'fan-seats tickets',
    'a ticket of an order that is not paid',
    ticket({ order_id: `'%awaitingOrder'::uuid`, seat_id: `'%awaitingSeat'::uuid` }),
  ],
  ['fan-seats tickets', 'a ticket of no order', ticket({ order_id: 'gen_random_uuid()', seat_id: FREE })],
  ['tickets', 'a ticket for a seat its order never had', ticket({ seat_id: FREE, status: `'refunded'` })],
  [
    'fan-seats tickets',
    'a ticket for another match',
    `update tickets set match_id = '%queueMatch' where seat_id = '%completedSeat'`,
  ],

  [
    'fan-seats completed-orders',
    'the reservation of a completed order has expired',
    `update reservations set status = 'expired' where id = '%completed'`,
  ],
  ['completed-orders', 'a holder is missing', `update orders set holders = holders - 0 where id = '%completedOrder'`],
  [
    'completed-orders',
    'a holder too many',
    `update orders set holders = holders || '[{"seatId": "another", "name": "Ana"}]' where id = '%completedOrder'`,
  ],
  ['completed-orders', 'the holders are no list', `update orders set holders = '7' where id = '%completedOrder'`],
  ['fan-seats completed-orders', 'a ticket is missing', `delete from tickets where seat_id = '%completedSeat'`],
  [
    'fan-seats completed-orders',
    'a completed reservation without an order',
    `update reservations set status = 'completed' where id = ${RELEASED}`,
  ],
  [
    'completed-orders',
    'an order of another fan than its reservation',
    `delete from idempotency_keys; update orders set user_id = gen_random_uuid() where id = '%completedOrder'`,
  ],
  [
    'fan-seats completed-orders refunded-tickets',
    'all is refunded but the order',
    `update tickets set status = 'refunded' where order_id = '%completedOrder'; ${give(`(select seat_id from reservation_seats where reservation_id = '%completed')`)}`,
  ],
  [
    'completed-orders captured-payments',
    'an order costs more than its reservation',
    `update orders set total_cents = total_cents + 1 where id = '%completedOrder'`,
  ],

  [
    'one-order-a-turn',
    'the other hold of a used turn is being paid',
    `drop index if exists orders_one_a_window;
     insert into orders select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'number', 'ORD-1', 'intent_id', null,
         'status', 'awaiting_payment', 'reservation_id', r.id))).*
       from orders o join reservations r on r.session_token = o.session_token and r.status = 'released'`,
  ],

  [
    'one-order-a-turn',
    'a completed order leaves its turn open',
    `update orders set claims_window = false where session_token is not null`,
  ],

  [
    'blacklist',
    'a fan buys an hour after being listed',
    `insert into blacklist_changes (user_id, action, by, at)
       select user_id, 'list', user_id, now() - interval '1 hour' from orders where id = '%completedOrder'`,
  ],
  [
    'blacklist',
    'a ticket is given to a fan who was listed for a day',
    `insert into blacklist_changes (user_id, action, until, by, at)
       values ('%new', 'list', now() + interval '20 hours', '%new', now() - interval '4 hours');
     update tickets set user_id = '%new' where seat_id = '%completedSeat';
     update fan_seats set received = received - 1 where user_id = '%fan';
     insert into fan_seats (match_id, user_id, revision, reservation_ids, received) values ('%match', '%new', 1, '{}', 1)`,
  ],
  ['own-turn', 'a turn of another fan', `update purchase_windows set user_id = gen_random_uuid()`],
  ['own-turn', 'a turn that nobody was granted', `delete from purchase_windows`],

  [
    'references',
    'a timeline of no order',
    `update order_timeline set order_id = gen_random_uuid() where order_id = '%awaitingOrder'`,
  ],
  [
    'references',
    'an order without a reservation',
    `delete from reservations where id = '%cancelled'; delete from idempotency_keys`,
  ],
  ['references', 'an intent nobody would find', `delete from order_intents where intent_id = '%awaitingIntent'`],
  [
    'references',
    'an intent of another order',
    `update order_intents set order_id = gen_random_uuid() where intent_id = '%awaitingIntent'`,
  ],

  [
    'captured-payments',
    'a payment was told and had no effect',
    `insert into payment_inbox values ('evt_new', 'payment_intent.succeeded', '%awaitingIntent', 'succeeded')`,
  ],
  [
    'captured-payments',
    'a payment was taken and never told',
    `update sandbox_intents set status = 'succeeded' where id = '%awaitingIntent'`,
  ],
  [
    'captured-payments',
    'a payment of no order',
    `insert into payment_inbox values ('evt_new', 'payment_intent.succeeded', 'pi_unknown', 'succeeded')`,
  ],
  [
    'captured-payments',
    'a payment over another amount',
    `update sandbox_intents set amount_cents = 1 where id = '%completedIntent'`,
  ],
  [
    'captured-payments',
    'another provider told of another amount',
    `update sandbox_intents set status = 'requires_payment' where id = '%completedIntent';
     update payment_inbox set amount_cents = 1 where intent_id = '%completedIntent'`,
  ],
  [
    'captured-payments',
    'another provider told of another currency',
    `update sandbox_intents set status = 'requires_payment' where id = '%completedIntent';
     update payment_inbox set currency = 'HUF' where intent_id = '%completedIntent'`,
  ],
  [
    'captured-payments',
    'a refund is lost on its way',
    `delete from outbox where destination = 'payments' and body ->> 'intentId' = '%refundOnItsWay'`,
  ],
  [
    'captured-payments',
    'a refund over less than was paid',
    `update sandbox_refunds set amount_cents = amount_cents - 1 where intent_id = '%refunded'`,
  ],

  [
    'paid-orders',
    'an order that nobody paid',
    `delete from payment_inbox where intent_id = '%completedIntent';
     update sandbox_intents set status = 'requires_payment' where id = '%completedIntent'`,
  ],

  [
    'refunded-tickets',
    'less goes back than the refunded ticket cost',
    `update sandbox_refunds set amount_cents = amount_cents - 1 where intent_id = '%partlyIntent'`,
  ],
  [
    'refunded-tickets',
    'the refund of a ticket is lost on its way',
    `delete from sandbox_refunds where intent_id = '%partlyIntent'`,
  ],
  [
    'refunded-tickets',
    'an order that does not count its refunded ticket',
    `update orders set refunded_tickets = 0, refunded_cents = 0 where id = '%partlyOrder'`,
  ],
  [
    'refunded-tickets',
    'an order that counts too much for it',
    `update orders set refunded_cents = refunded_cents + 1 where id = '%partlyOrder'`,
  ],
  ['refunds', 'more goes back than the refunded ticket cost', refund('%partlyIntent', 1)],
  ['refunds', 'money goes back twice', refund('%refunded', 5000)],
  ['refunds', 'money goes back for tickets that live', refund('%completedIntent', 2500)],
  ['refunds', 'money goes back that was never taken', refund('%awaitingIntent', 2500)],
  [
    'refunds',
    'money is about to go back twice',
    `insert into outbox (id, destination, event, body)
       select gen_random_uuid(), destination, event, jsonb_set(body, '{key}', '"another"') from outbox where body ->> 'kind' = 'refund'`,
  ],
  [
    'refunds',
    'more is about to go back than another provider told us of',
    `update outbox set body = jsonb_set(body, '{amountCents}', '5001') where body ->> 'intentId' = '%refundOnItsWay' and body ->> 'kind' = 'refund';
     delete from sandbox_intents where id = '%refundOnItsWay'`,
  ],
  [
    'refunds',
    'money goes back for no order',
    `insert into sandbox_intents (id, order_id, amount_cents, currency, client_secret)
       values ('pi_' || repeat('0', 24), gen_random_uuid(), 1, 'EUR', 's'); ${refund(`pi_${'0'.repeat(24)}`, 1)}`,
  ],

  ['idempotency-keys', 'a key without an answer', `insert into idempotency_keys values ('k', gen_random_uuid(), 'f')`],
  [
    'idempotency-keys',
    'a key that keeps a failure',
    `insert into idempotency_keys values ('k', gen_random_uuid(), 'f', 500, '')`,
  ],
  [
    'idempotency-keys',
    'an answer about a reservation that is not there',
    `insert into idempotency_keys (key, user_id, fingerprint, status, made) values ('k', gen_random_uuid(), 'f', 201, gen_random_uuid())`,
  ],
  [
    'idempotency-keys',
    "an answer about another fan's order",
    `update idempotency_keys set user_id = gen_random_uuid() where location like '%orders/%awaitingOrder'`,
  ],

  [
    'lapsed-holds',
    'a hold of 6 minutes ago',
    `update reservations set expires_at = now() - interval '6 minutes' where id = '%held';
     update seats set expires_at = now() - interval '6 minutes' where reservation_id = '%held'`,
  ],
  ['lapsed-holds', 'a seat held until 6 minutes ago', take(FREE, 'gen_random_uuid()', `now() - interval '6 minutes'`)],

  [
    'unpaid-orders',
    'an order whose hold ended 16 minutes ago',
    `update reservations set status = 'expired', ended_at = now() - interval '16 minutes' where id = '%awaiting';
     ${give(`(select seat_id from reservation_seats where reservation_id = '%awaiting')`)}`,
  ],

  [
    'cancelled-matches',
    'a match was cancelled two hours ago, and its orders are still completed',
    `update matches set sale_status = 'closed', cancelled_at = now() - interval '2 hours' where id = '%match'`,
  ],
  [
    'cancelled-matches',
    'a cancelled match is for sale',
    `alter table matches drop constraint if exists matches_cancelled_closed; update matches set cancelled_at = now() where id = '%match'`,
  ],

  [
    'parked-messages',
    'a message was set aside',
    `update outbox set parked_at = now(), attempts = 10 where destination = 'email'`,
  ],
  [
    'waiting-messages',
    'a message waits for 16 minutes',
    `update outbox set created_at = now() - interval '16 minutes' where destination = 'email'`,
  ],
];

/** With this sale's ids in place of `%names`. */
export function filledIn(statements: string, sale: SampleSale): string {
  const { match, queueMatch, cancelled, completed, partlyRefunded, held, awaiting, refunded, refundOnItsWay } = sale;
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
    refundOnItsWay: refundOnItsWay.intentId,
    new: '0190a000-0000-7000-8000-000000000001',
  };
  return statements.replaceAll(/%(\w+)/g, (all, name: string) => values[name] ?? all);
}
