import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { ExpireReservations } from '../../purchase/hold/application/expire-reservations.ts';
import { brokenSales, fillIn, insertHold, insertRefund, markHeld } from '../../testing/broken-sales.ts';
import { buy, hold, makeSampleSale, openShop, release, type HeldSeats, type SampleSale } from '../../testing/sample-sale.ts';
import { ops, putOnSale, seated, type MatchOnSale, type WholeMonolith } from '../../testing/whole-monolith.ts';
import { invariants, UnknownMatch, verifyDatabase, verifySnapshot, type Verification } from './verify-database.ts';

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
  await Promise.all([database.close(), redis.close()]);
});

/** Breaks the sample sale in a transaction, verifies it inside that transaction, and rolls back. */
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

const brokenInvariants = ({ invariants: findings }: Verification) => findings.filter(({ broken }) => broken > 0);
const names = (findings: readonly { name: string }[]): string[] => findings.map(({ name }) => name);

describe('verifyDatabase for a sale with holds, orders, refunds and transfers', () => {
  test('reports nothing broken, and every invariant checks at least one row', async () => {
    const verification = await verifyDatabase(dataSource);
    expect(brokenInvariants(verification)).toEqual([]);
    expect(verification).toMatchObject({ ok: true, match_id: null });
    expect(names(verification.invariants)).toEqual(names(invariants));
    expect(names(verification.invariants.filter(({ checked }) => checked === 0))).toEqual([]);
  });

  test.each(brokenSales)('the invariants %s are broken, and no others, when %s', async (found, _what, statements) => {
    const verification = await verifyAfter(fillIn(statements, sale));
    expect(names(brokenInvariants(verification))).toEqual(found.split(' '));
    expect(verification.ok).toBe(false);
    for (const { broken, rows } of brokenInvariants(verification)) {
      expect(rows).toHaveLength(Math.min(broken, 20));
      for (const { problem, ...ids } of rows) expect([typeof problem, Object.keys(ids).length > 0]).toEqual(['string', true]);
    }
  });

  test('every invariant is broken by at least one of the `brokenSales`', () => {
    const seen = new Set(brokenSales.flatMap(([found]) => found.split(' ')));
    expect([...seen].sort()).toEqual(names(invariants).sort());
  });

  test('reports nothing broken after a refund, a new hold of the refunded seat and a transfer', async () => {
    const [friend, otherFan] = [randomUUID(), randomUUID()];
    const statements = `
      update tickets set status = 'refunded' where seat_id = '%completedSeat';
      ${insertRefund('%completedIntent', 2500)};
      update orders set refunded_tickets = 1, refunded_cents = 2500 where id = '%completedOrder';
      update tickets set status = 'transferred' where order_id = '%completedOrder' and status = 'valid';
      insert into tickets (id, order_id, match_id, user_id, seat_id, sector, holder_name, serial)
        select '%new', order_id, match_id, '${friend}', seat_id, sector, 'A friend', 2 from tickets
        where order_id = '%completedOrder' and status = 'transferred';
      insert into transfer_offers (id, ticket_id, match_id, from_user_id, to_user_id, status, expires_at, ended_at, new_ticket_id)
        select gen_random_uuid(), id, match_id, user_id, '${friend}', 'accepted', now(), now(), '%new' from tickets
        where order_id = '%completedOrder' and status = 'transferred';
      update fan_seats set received = -1 where user_id = '%fan';
      insert into fan_seats (match_id, user_id, revision, reservation_ids, received) values ('%match', '${friend}', 1, '{}', 1);
      insert into fan_seats (match_id, user_id, revision, reservation_ids) values ('%match', '${otherFan}', 1, array['%new'::uuid]);
      ${insertHold(`'${otherFan}'::uuid`, `('%completedSeat')`)};
      ${markHeld(`('%completedSeat')`, `'%new'`, `(select expires_at from reservations where id = '%new')`)}`;
    expect(brokenInvariants(await verifyAfter(fillIn(statements, sale)))).toEqual([]);
  });

  test('with a match id checks only that match and skips global invariants', async () => {
    const statements = `update reservations set total_cents = total_cents + 1 where status = 'released'; update seats set status = 'blocked' where status = 'available'; update outbox set parked_at = now()`;
    const only = async (matchId: string) => brokenInvariants(await verifyAfter(statements, matchId));
    const [all, first, second] = [
      brokenInvariants(await verifyAfter(statements)),
      await only(sale.match.id),
      await only(sale.queueMatch.id),
    ];
    expect([names(all), names(first), names(second)]).toEqual([
      ['reservation-sums', 'parked-messages'],
      ['reservation-sums'],
      ['reservation-sums'],
    ]);
    expect((first[0]?.broken ?? 0) + (second[0]?.broken ?? 0)).toBe(all[0]?.broken);
    await expect(verifyDatabase(dataSource, { matchId: randomUUID() })).rejects.toThrow(UnknownMatch);
  });

  test('returns at most 20 rows of a broken invariant', async () => {
    const verification = await verifyAfter(
      `update seats set status = 'sold', reservation_id = gen_random_uuid() where status = 'available'`,
    );
    const [finding] = brokenInvariants(verification);
    expect(finding?.rows).toHaveLength(20);
    expect(finding?.broken).toBeGreaterThan(50);
  });
});

test('verifyDatabase reports nothing broken for an empty database', async () => {
  const everything = (await dataSource.query(`select string_agg(relname, ', ') as tables from pg_stat_user_tables`)) as {
    tables: string;
  }[];
  const verification = await verifyAfter(`truncate ${everything[0]?.tables}`);
  expect(verification.ok).toBe(true);
  expect(new Set(verification.invariants.map(({ checked }) => checked))).toEqual(new Set([0]));
});

describe('verifyDatabase during a running sale', () => {
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
    await running.close();
  });

  /** Lets the hold expire in 20 ms, so that another fan can take its seats. */
  const shorten = (held: HeldSeats) => shop.dataSource.query(SHORTEN, [held.reservationId]);

  test('does not report a seat as claimed twice if its hold expired and another fan took it just before the snapshot', async () => {
    const runner = shop.dataSource.createQueryRunner();
    await runner.startTransaction('REPEATABLE READ');
    const first = await hold(shop, match);
    await shorten(first);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await hold(shop, match, { seatIds: first.seatIds });
    const verification = await verifySnapshot(runner, null);
    await runner.rollbackTransaction();
    await runner.release();
    expect(brokenInvariants(verification)).toEqual([]);
  });

  test('accepts that a fan has more seats than a lowered limit if they were held before it was lowered, also when they are paid afterwards', async () => {
    const lowered = await putOnSale(shop, { sectors: [seated('East A', 1, 12)] });
    await buy(shop, await hold(shop, lowered));
    const underWay = await hold(shop, lowered);
    const change = await shop.call('PATCH', `/api/v1/ops/matches/${lowered.id}`, { ...ops, body: { max_tickets_per_fan: 1 } });
    expect([change.status, change.json.max_tickets_per_fan]).toEqual([200, 1]);
    await buy(shop, underWay);
    expect(brokenInvariants(await verifyDatabase(shop.dataSource, { matchId: lowered.id }))).toEqual([]);
    await expect(hold(shop, lowered)).rejects.toThrow('TICKET_LIMIT_REACHED');
  });

  test('reports nothing broken while six fans hold, buy, release and let holds expire', async () => {
    let [holds, verifications] = [0, 0];
    const crowd = Array.from({ length: 6 }, async (_, index) => {
      for (let round = 0; round < 8 || verifications <= 10; round += 1) {
        const held = await hold(shop, match).catch(() => undefined);
        if (!held) continue;
        if (index === 0 && round < 3) await buy(shop, held);
        else if (index < 3) await release(shop, held);
        else await shorten(held);
        if (index === 5) await shop.get(ExpireReservations).execute();
        holds += 1;
      }
    });
    let isOver = false;
    const over = Promise.all(crowd).finally(() => (isOver = true));
    const alarms: unknown[] = [];
    for (; !isOver; verifications += 1) alarms.push(...brokenInvariants(await verifyDatabase(shop.dataSource)));
    await over;
    expect(alarms).toEqual([]);
    expect(Math.min(verifications, holds)).toBeGreaterThan(10);
  });
});

const SHORTEN = `
  with shorter as (update reservations set expires_at = now() + interval '20 milliseconds' where id = $1 returning id, expires_at)
  update seats s set expires_at = shorter.expires_at from shorter where s.reservation_id = shorter.id and s.status = 'held'`;
