import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, createTestRedis, type TestDatabase } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { grantTurn, openMonolith, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { ExpireReservations } from './hold/application/expire-reservations.ts';
import { BoxOffice } from './testing/box-office.ts';

// Under SERIALIZABLE a statement that reads a whole table, or a whole index, has looked at every row of it: every buyer who
// writes there is then in its way. In a sale of some size everything has to be found by its key.

const OTHERS = 2000;
/** A sector may be looked at as a whole; it has 40 seats here. */
const MANY = 1500;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Tables of which so many rows were read since the last reset. A connection tells what it has read when it is closed. */
async function readAsAWhole(): Promise<string[]> {
  const observer = await openDatabase({ url: database.url, name: 'observer', poolSize: 1 });
  const others = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  while ((await observer.query<unknown[]>(others)).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const rows = await observer.query<{ name: string }[]>(
    `select t.relname as name from pg_stat_user_tables t
       left join (select relid, sum(idx_tup_read) as n from pg_stat_user_indexes group by relid) i using (relid)
     where t.schemaname = 'public' and t.seq_tup_read + coalesce(i.n, 0) >= $1`,
    [MANY],
  );
  await observer.destroy();
  return rows.map(({ name }) => name);
}

/** What a purchase on the way leaves in each table, two thousand times over. */
const FRESH: Record<string, string> = {
  reservations: `'id', gen_random_uuid(), 'user_id', gen_random_uuid(), 'session_token', gen_random_uuid(), 'status', 'released', 'swept', true`,
  orders: `'id', gen_random_uuid(), 'number', gen_random_uuid(), 'reservation_id', gen_random_uuid(), 'user_id', gen_random_uuid(), 'session_token', gen_random_uuid(), 'intent_id', gen_random_uuid()`,
  purchase_windows: `'session_token', gen_random_uuid(), 'user_id', gen_random_uuid()`,
  fan_seats: `'user_id', gen_random_uuid()`,
  idempotency_keys: `'key', gen_random_uuid()`,
  order_intents: `'intent_id', gen_random_uuid(), 'order_id', gen_random_uuid()`,
  payment_inbox: `'event_id', gen_random_uuid()`,
  tickets: `'id', gen_random_uuid(), 'seat_id', gen_random_uuid(), 'order_id', gen_random_uuid(), 'user_id', gen_random_uuid()`,
};

async function purchaseInTurn(office: BoxOffice, match: MatchOnSale): Promise<void> {
  const as = randomUUID();
  const turn = await grantTurn(office.monolith, match.id, as);
  const bought = await office.ordered(await office.held(match, { as, turn, quantity: 2 }));
  await office.held(match, { as, turn });
  await office.settle(office.report(bought));
}

async function crowd(office: BoxOffice): Promise<void> {
  await putOnSale(office.monolith, { sectors: [{ name: 'Terrace', kind: 'standing', price_cents: 900, capacity: OTHERS }] });
  for (const [table, fresh] of Object.entries(FRESH)) {
    await office.rows(
      `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(${fresh}))).* from ${table} t, generate_series(1, ${OTHERS}) where t.ctid = (select ctid from ${table} limit 1)`,
    );
  }
  await office.rows('analyze');
}

/** Everything that is written on the way from a free seat to a sold one, and back. */
async function everythingHappens(office: BoxOffice, direct: MatchOnSale, turns: MatchOnSale): Promise<void> {
  await purchaseInTurn(office, turns);
  const named = await office.held(direct, { seatIds: (await office.seatIds(direct)).slice(0, 2) });
  await office.hold(direct, { seatIds: named.seatIds });
  await office.hold(direct, { quantity: 5 });
  await office.release(named);
  const givenUp = await office.ordered(await office.held(direct));
  await office.release(givenUp.held);
  const late = await office.ordered(await office.held(direct));
  for (const table of ['reservations', 'seats']) {
    const over = `update ${table} set expires_at = now() - interval '1 second' where id = any($1::uuid[])`;
    await office.rows(over, [[late.held.id, ...late.held.seatIds]]);
  }
  await office.held(direct, { seatIds: late.held.seatIds });
  await office.monolith.get(ExpireReservations).execute();
  await office.settle(office.report(late));
}

test('of nothing that a purchase meets on its way more is read than its own', async () => {
  const redis = await createTestRedis();
  const monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  const office = new BoxOffice(monolith);
  const direct = await putOnSale(monolith, { sectors: [seated('East A', 4, 10)] });
  const turns = await putOnSale(monolith, { queue_required: true, sectors: [seated('East A', 4, 10)] });
  await purchaseInTurn(office, turns);
  await crowd(office);
  await office.rows('select pg_stat_reset()');
  await everythingHappens(office, direct, turns);
  await monolith.close();
  await redis.close();
  expect(await readAsAWhole()).toEqual([]);
});

test.each([
  ['seats', `update seats set status = status where reservation_id = gen_random_uuid()`],
  ['reservations', `select 1 from reservations where user_id = gen_random_uuid() order by id`],
  ['orders', `set enable_seqscan = off; select 1 from orders where intent_id = 'pi_1' order by id`],
])('the control: a statement that has to look for its rows in %s is seen', async (table, statement) => {
  const reckless: DataSource = await openDatabase({ url: database.url, name: 'reckless', poolSize: 1 });
  await reckless.query('select pg_stat_reset()');
  await reckless.query(statement);
  await reckless.destroy();
  expect(await readAsAWhole()).toEqual([table]);
});
