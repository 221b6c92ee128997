import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { ExpireReservations } from '../purchase/application/expire-reservations.ts';
import { buy, hold, makeSampleSale, openShop, release, type HeldSeats, type SampleSale } from '../testing/sample-sale.ts';
import { putOnSale, seated, type MatchOnSale, type WholeMonolith } from '../testing/whole-monolith.ts';
import { invariants, NoSuchMatch, verifyDatabase, verifySnapshot, type Verification } from './verify-database.ts';

let database: TestDatabase;
let redis: TestRedis;
let dataSource: DataSource;
let sale: SampleSale;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const shop = await openShop({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  sale = await makeSampleSale(shop);
  await shop.close();
  dataSource = await openDatabase({ url: database.url, name: 'test', poolSize: 2 });
});
afterAll(async () => {
  await dataSource.destroy();
  await Promise.all([database.drop(), redis.close()]);
});

/** Breaks the sample sale in a transaction, looks at it from in there, and takes all of it back. */
async function verifyAfter(statements: string, matchId: string | null = null): Promise<Verification> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction('REPEATABLE READ');
  try {
    await runner.query(statements);
    return await verifySnapshot(runner, matchId);
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

const brokenOnes = ({ invariants: findings }: Verification) => findings.filter(({ broken }) => broken > 0);
const names = (ones: readonly { name: string }[]): string[] => ones.map(({ name }) => name);

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
function listed(userId: string, seats: string): string {
  return `
    insert into reservations (id, match_id, sector_id, user_id, status, quantity, together, total_cents, currency, expires_at)
      select '%new', match_id, sector_id, ${userId}, 'held', count(*), true, 2500 * count(*), 'EUR', now() + interval '5 minutes'
      from seats where id in ${seats} group by match_id, sector_id;
    insert into reservation_seats (reservation_id, seat_id, position, sector, price_cents)
      select '%new', id, 1, 'East A', 2500 from seats where id in ${seats}`;
}

const THREE_FREE = `(select id from seats where status = 'available' and row_label is not null and match_id = '%match' order by id limit 3)`;
const take = (seats: string, reservation: string, until = `now() + interval '5 minutes'`): string =>
  `update seats set status = 'held', reservation_id = ${reservation}, expires_at = ${until} where id in ${seats}`;
const refund = (intent: string, cents: number): string => `insert into sandbox_refunds values ('again', '${intent}', ${cents})`;
const give = (seats: string): string =>
  `update seats set status = 'available', reservation_id = null, expires_at = null where id in ${seats}`;

/** Every way in which a sale may be wrong, and who has to find it: exactly those, and nobody else. */
const ways: readonly (readonly [found: string, what: string, statements: string])[] = [
  ['one-living-ticket', 'a second ticket for a sold seat', `drop index if exists tickets_one_a_seat; ${ticket({})}`],

  [
    'sold-seats',
    'a free seat is sold to no reservation',
    `update seats set status = 'sold', reservation_id = gen_random_uuid() where id = ${FREE}`,
  ],
  [
    'sold-seats',
    'seats are sold before they are paid',
    `update seats set status = 'sold', expires_at = null where reservation_id = '%awaiting'`,
  ],
  [
    'sold-seats',
    'a ticket is refunded, and its seat not for sale',
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
    `update reservation_seats set seat_id = (select id from seats where match_id = '%queueMatch' and status = 'available' limit 1)
     where reservation_id = ${RELEASED} and position = 1`,
  ],
  [
    'reservation-sector',
    'a seat that does not exist',
    `update reservation_seats set seat_id = gen_random_uuid() where reservation_id = ${RELEASED}`,
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

  ['one-claim', 'two living holds list the same seat', listed('gen_random_uuid()', `('%heldSeat')`)],
  ['one-claim', 'a living hold lists a seat that was sold', listed('gen_random_uuid()', `('%completedSeat')`)],

  [
    'fan-limit',
    'who has bought two of four holds three more',
    `${listed(`'%fan'`, THREE_FREE)}; ${take(THREE_FREE, `'%new'`, `(select expires_at from reservations where id = '%new')`)}`,
  ],

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
    'tickets',
    'a ticket of an order that is not paid',
    ticket({ order_id: `'%awaitingOrder'::uuid`, seat_id: `'%awaitingSeat'::uuid` }),
  ],
  ['tickets', 'a ticket of no order', ticket({ order_id: 'gen_random_uuid()', seat_id: FREE })],
  ['tickets', 'a ticket for a seat its order never had', ticket({ seat_id: FREE, status: `'refunded'` })],
  ['tickets', 'a ticket for another match', `update tickets set match_id = '%queueMatch' where seat_id = '%completedSeat'`],

  [
    'completed-orders',
    'the reservation of a completed order has expired',
    `update reservations set status = 'expired' where id = '%completed'`,
  ],
  ['completed-orders', 'a holder is missing', `update orders set holders = holders - 0 where id = '%completedOrder'`],
  ['completed-orders', 'the holders are no list', `update orders set holders = '7' where id = '%completedOrder'`],
  ['completed-orders', 'a ticket is missing', `delete from tickets where seat_id = '%completedSeat'`],
  [
    'completed-orders',
    'a completed reservation without an order',
    `update reservations set status = 'completed' where id = ${RELEASED}`,
  ],
  [
    'completed-orders',
    'an order of another fan than its reservation',
    `delete from idempotency_keys; update orders set user_id = gen_random_uuid() where id = '%completedOrder'`,
  ],
  [
    'completed-orders',
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

  ['own-turn', 'a turn of another fan', `update purchase_windows set user_id = gen_random_uuid()`],
  ['own-turn', 'a turn that nobody was granted', `delete from purchase_windows`],

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
    'a refund is lost on its way',
    `delete from outbox where destination = 'payments' and body ->> 'intentId' = '%refundOnItsWay'`,
  ],
  ['captured-payments', 'a refund over less than was paid', `update sandbox_refunds set amount_cents = amount_cents - 1`],

  [
    'paid-orders',
    'an order that nobody paid',
    `delete from payment_inbox where intent_id = '%completedIntent';
     update sandbox_intents set status = 'requires_payment' where id = '%completedIntent'`,
  ],

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
    `insert into idempotency_keys values ('k', gen_random_uuid(), 'f', 201, '{}', '/api/v1/reservations/' || gen_random_uuid())`,
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

function filledIn(statements: string): string {
  const { match, queueMatch, completed, held, awaiting, refunded, refundOnItsWay } = sale;
  const values: Record<string, string | undefined> = {
    match: match.id,
    queueMatch: queueMatch.id,
    fan: completed.userId,
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
    refunded: refunded.intentId,
    refundOnItsWay: refundOnItsWay.intentId,
    new: '0190a000-0000-7000-8000-000000000001',
  };
  return statements.replaceAll(/%(\w+)/g, (all, name: string) => values[name] ?? all);
}

describe('a sale in which everything has happened', () => {
  test('verifies clean, and every invariant has something to look at', async () => {
    const verification = await verifyDatabase(dataSource);
    expect(brokenOnes(verification)).toEqual([]);
    expect(verification).toMatchObject({ ok: true, match_id: null });
    expect(names(verification.invariants)).toEqual(names(invariants));
    expect(names(verification.invariants.filter(({ checked }) => checked === 0))).toEqual([]);
  });

  test.each(ways)('%s finds it when %s', async (found, _what, statements) => {
    const verification = await verifyAfter(filledIn(statements));
    expect(names(brokenOnes(verification))).toEqual(found.split(' '));
    expect(verification.ok).toBe(false);
    for (const { broken, rows } of brokenOnes(verification)) {
      expect(rows).toHaveLength(Math.min(broken, 20));
      for (const { problem, ...ids } of rows) expect([typeof problem, Object.keys(ids).length > 0]).toEqual(['string', true]);
    }
  });

  test('every invariant has been seen broken', () => {
    const seen = new Set(ways.flatMap(([found]) => found.split(' ')));
    expect([...seen].sort()).toEqual(names(invariants).sort());
  });

  test('stays clean when a ticket is refunded, its seat sold again, and another ticket given to a friend', async () => {
    const statements = `
      update tickets set status = 'refunded' where seat_id = '%completedSeat';
      ${refund('%completedIntent', 2500)};
      update tickets set user_id = gen_random_uuid(), serial = 2 where order_id = '%completedOrder' and status = 'valid';
      ${listed('gen_random_uuid()', `('%completedSeat')`)};
      ${take(`('%completedSeat')`, `'%new'`, `(select expires_at from reservations where id = '%new')`)}`;
    expect(brokenOnes(await verifyAfter(filledIn(statements)))).toEqual([]);
  });

  test('is looked at one match at a time, without what concerns all of them', async () => {
    const statements = `update reservations set quantity = 3; update seats set status = 'blocked' where status = 'available'; update outbox set parked_at = now()`;
    const only = async (matchId: string) => brokenOnes(await verifyAfter(statements, matchId));
    const [all, one, other] = [
      brokenOnes(await verifyAfter(statements)),
      await only(sale.match.id),
      await only(sale.queueMatch.id),
    ];
    expect([names(all), names(one), names(other)]).toEqual([
      ['reservation-sums', 'parked-messages'],
      ['reservation-sums'],
      ['reservation-sums'],
    ]);
    expect((one[0]?.broken ?? 0) + (other[0]?.broken ?? 0)).toBe(all[0]?.broken);
    await expect(verifyDatabase(dataSource, { matchId: randomUUID() })).rejects.toThrow(NoSuchMatch);
  });

  test('shows 20 rows of many', async () => {
    const verification = await verifyAfter(
      `update seats set status = 'sold', reservation_id = gen_random_uuid() where status = 'available'`,
    );
    const [finding] = brokenOnes(verification);
    expect(finding?.rows).toHaveLength(20);
    expect(finding?.broken).toBeGreaterThan(50);
  });
});

test('an empty database verifies clean', async () => {
  const everything = (await dataSource.query(`select string_agg(relname, ', ') as tables from pg_stat_user_tables`)) as {
    tables: string;
  }[];
  const verification = await verifyAfter(`truncate ${everything[0]?.tables}`);
  expect(verification.ok).toBe(true);
  expect(new Set(verification.invariants.map(({ checked }) => checked))).toEqual(new Set([0]));
});

describe('a sale that runs', () => {
  let running: TestDatabase;
  let shop: WholeMonolith;
  let match: MatchOnSale;

  beforeAll(async () => {
    running = await createTestDatabase();
    shop = await openShop({ DATABASE_URL: running.url, REDIS_URL: redis.url });
    match = await putOnSale(shop, { sectors: [seated('East A', 1, 12)] });
  });
  afterAll(async () => {
    await shop.close();
    await running.drop();
  });

  /** Ends in a moment, so that others take its seats over. */
  const shorten = (held: HeldSeats) => shop.dataSource.query(SHORTEN, [held.reservationId]);

  test('a hold that ended and was taken over just before the snapshot is not seen as two', async () => {
    const runner = shop.dataSource.createQueryRunner();
    await runner.startTransaction('REPEATABLE READ');
    const first = await hold(shop, match);
    await shorten(first);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await hold(shop, match, { seatIds: first.seatIds });
    const verification = await verifySnapshot(runner, null);
    await runner.rollbackTransaction();
    await runner.release();
    expect(brokenOnes(verification)).toEqual([]);
  });

  test('raises no false alarm', async () => {
    let done = 0;
    const crowd = Array.from({ length: 6 }, async (_, index) => {
      for (let round = 0; round < 8; round += 1) {
        const held = await hold(shop, match).catch(() => undefined);
        if (!held) continue;
        if (index === 0 && round < 3) await buy(shop, held);
        else if (index < 3) await release(shop, held);
        else await shorten(held);
        if (index === 5) await shop.get(ExpireReservations).execute();
        done += 1;
      }
    });
    let isOver = false;
    const over = Promise.all(crowd).finally(() => (isOver = true));
    const alarms: unknown[] = [];
    let looks = 0;
    for (; !isOver; looks += 1) alarms.push(...brokenOnes(await verifyDatabase(shop.dataSource)));
    await over;
    expect(alarms).toEqual([]);
    expect(Math.min(looks, done)).toBeGreaterThan(10);
  });
});

const SHORTEN = `
  with shorter as (update reservations set expires_at = now() + interval '20 milliseconds' where id = $1 returning id, expires_at)
  update seats s set expires_at = shorter.expires_at from shorter where s.reservation_id = shorter.id and s.status = 'held'`;
