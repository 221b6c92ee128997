import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, createTestRedis, type TestDatabase } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { grantTurn, openMonolith, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { ExpireReservations } from './hold/application/expire-reservations.ts';
import { BoxOffice } from './testing/box-office.ts';

// Under SERIALIZABLE, a statement that scans a whole table or index conflicts with every concurrent write to it. So the statements
// of a purchase must find their rows by key, also when a table is large.

/** Rows added to each table, so that a scan is visible in the statistics. */
const EXTRA_ROWS = 2000;
/** More rows read than this means a scan. Reading one whole sector is allowed; it has 40 seats here. */
const SCAN_THRESHOLD_ROWS = 1500;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/**
 * The tables of which more than `SCAN_THRESHOLD_ROWS` rows were read since the last reset of the statistics. PostgreSQL publishes
 * the counts of a connection when the connection closes, so this function waits until all other connections are closed.
 */
async function scannedTables(): Promise<string[]> {
  const observer = await openDatabase({ url: database.url, name: 'observer', poolSize: 1 });
  const otherConnections = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  while ((await observer.query<unknown[]>(otherConnections)).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const rows = await observer.query<{ name: string }[]>(
    `select t.relname as name from pg_stat_user_tables t
       left join (select relid, sum(idx_tup_read) as n from pg_stat_user_indexes group by relid) i using (relid)
     where t.schemaname = 'public' and t.seq_tup_read + coalesce(i.n, 0) >= $1`,
    [SCAN_THRESHOLD_ROWS],
  );
  await observer.destroy();
  return rows.map(({ name }) => name);
}

/** For each table: the columns that get new values when a row is copied `EXTRA_ROWS` times. */
const NEW_VALUES: Record<string, string> = {
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

async function addManyRows(office: BoxOffice): Promise<void> {
  await putOnSale(office.monolith, { sectors: [{ name: 'Terrace', kind: 'standing', price_cents: 900, capacity: EXTRA_ROWS }] });
  for (const [table, newValues] of Object.entries(NEW_VALUES)) {
    await office.rows(
      `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(${newValues}))).* from ${table} t, generate_series(1, ${EXTRA_ROWS}) where t.ctid = (select ctid from ${table} limit 1)`,
    );
  }
  await office.rows('analyze');
}

/** Runs every write path of a purchase: hold, refused hold, release, cancel, expiry, checkout, payment, late payment. */
async function runAllWritePaths(office: BoxOffice, direct: MatchOnSale, turns: MatchOnSale): Promise<void> {
  await purchaseInTurn(office, turns);
  const named = await office.held(direct, { seatIds: (await office.seatIds(direct)).slice(0, 2) });
  await office.hold(direct, { seatIds: named.seatIds });
  await office.hold(direct, { quantity: 5 });
  await office.release(named);
  const cancelled = await office.ordered(await office.held(direct));
  await office.release(cancelled.held);
  const late = await office.ordered(await office.held(direct));
  for (const table of ['reservations', 'seats']) {
    const expire = `update ${table} set expires_at = now() - interval '1 second' where id = any($1::uuid[])`;
    await office.rows(expire, [[late.held.id, ...late.held.seatIds]]);
  }
  await office.held(direct, { seatIds: late.held.seatIds });
  await office.monolith.get(ExpireReservations).execute();
  await office.settle(office.report(late));
}

test('a purchase scans no table: it finds its rows by index', async () => {
  const redis = await createTestRedis();
  const monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  const office = new BoxOffice(monolith);
  const direct = await putOnSale(monolith, { sectors: [seated('East A', 4, 10)] });
  const turns = await putOnSale(monolith, { queue_required: true, sectors: [seated('East A', 4, 10)] });
  await purchaseInTurn(office, turns);
  await addManyRows(office);
  await office.rows('select pg_stat_reset()');
  await runAllWritePaths(office, direct, turns);
  await monolith.close();
  await redis.close();
  expect(await scannedTables()).toEqual([]);
});

test.each([
  ['seats', `update seats set status = status where reservation_id = gen_random_uuid()`],
  ['reservations', `select 1 from reservations where user_id = gen_random_uuid() order by id`],
  ['orders', `set enable_seqscan = off; select 1 from orders where intent_id = 'pi_1' order by id`],
])('negative control: a statement that scans the table %s is detected', async (table, statement) => {
  const connection: DataSource = await openDatabase({ url: database.url, name: 'scan', poolSize: 1 });
  await connection.query('select pg_stat_reset()');
  await connection.query(statement);
  await connection.destroy();
  expect(await scannedTables()).toEqual([table]);
});
