import { createLogger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { closeRedis, connectRedis, whenReady } from '#platform/redis/redis-connection';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { FanErasures } from '../../apps/monolith/src/cli/retention/fan-erasures.ts';
import { Retention } from '../../apps/monolith/src/cli/retention/retention.ts';
import { createMonolith } from '../../apps/monolith/src/monolith.ts';
import { BoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { openResources } from '../../apps/monolith/src/resources.ts';
import {
  grantTurn,
  openMonolith,
  putOnSale,
  seated,
  type WholeMonolith,
} from '../../apps/monolith/src/testing/whole-monolith.ts';
import { runWorker } from '../../apps/notification-worker/src/testing/running-worker.ts';
import { addPastSales } from '../../bench/history/past-sales.ts';
import { allReads, type Read } from '../../bench/history/reads.ts';
import type { OpenApiDocument } from '../reference/openapi-document.ts';
import { ExplainedStatements, type TableScan } from './explained-statements.ts';

// With a long history, no route, no purchase and no periodic task may read a large table from end to end: neither by a sequential scan
// nor by an index of which it reads a large part. PostgreSQL reports the plans that it really used, with the rows that they read.
//
// Why 30 past matches are enough: with 200 of them a plan that reads a fixed number of rows by an index stays as cheap, so the planner keeps
// it. A plan whose cost grows with the history reads more than MAX_ROWS rows already here.

const HISTORY = { matches: 30, ordersOfMatch: 1000, days: 300 };
/** A table with so many rows after the history was added is large. */
const LARGE_ROWS = 4000;
/** The most rows that one step of a plan may read of a large table. A past match has 2,100 seats. */
const MAX_ROWS = 3000;

/** Tables that are small here. All others must be large here, so that a new table cannot be forgotten. */
const SMALL_TABLES = [
  // A few rows for each match or sector.
  ...[
    'matches',
    'sectors',
    'match_search',
    'match_search_rebuild',
    'match_reminders',
    'queue_event_cursors',
    'queue_generations',
  ],
  ...['quotas', 'quota_moves', 'quota_move_requests', 'quota_notices', 'broadcasts', 'migrations'],
  // Their retention is an hour to 30 days, and they get no row for a purchase.
  ...['jobs', 'alert_notes'],
  // There are at most twenty.
  'webhooks',
  // One row for a match, a rule, or a fan who erased the account.
  ...['erased_matches', 'retention_runs', 'erasures'],

  // What operators have done by hand.
  ...['blacklist', 'blacklist_changes', 'job_interventions'],
  // It has a test of the plans of its own, with many rows (apps/monolith/src/audit).
  'audit_log',
  // For tests and development only.
  ...['mailbox_messages', 'sandbox_intents', 'sandbox_refunds'],
  // Of the event loader, which finds its rows by key; bench:loader measures it.
  ...['loader_sources', 'loader_balance', 'loaded_events_due', 'loaded_conflicts', 'quarantined_events', 'seat_blocks'],
  // Written and read by key like `invitations`.
  'invitation_tokens',
];

/** Statements that may read all rows of a table, by their beginning, and why. */
const MAY_SCAN: readonly (readonly [statement: string, table: string])[] = [
  // They count what waits. The outbox is empty when nothing waits, however long the history is.
  ['select count(*) filter (where parked_at is null', 'outbox'],
  // A search reads the newest 10,000 rows, however many there are.
  ['select distinct order_id as "orderId" from (select id, order_id, holder_name from tickets order by id desc limit', 'tickets'],
  ['select id from (select id, number, email, holders from orders order by id desc limit', 'orders'],
  // Once an hour. Only jobs that are not sent yet have a row.
  ['delete from queued_jobs where ctid = any(', 'queued_jobs'],
];

let database: TestDatabase;
let redis: TestRedis;
let client: pg.Client;
let explained: ExplainedStatements;
let monolith: WholeMonolith;
let office: BoxOffice;
let sizes: ReadonlyMap<string, number>;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await addPastSales(client, HISTORY);
  await addWaitingMessages();
  await client.query('vacuum (analyze)');
  const { rows } = await client.query<{ name: string; rows: number }>(
    `select relname as name, reltuples::int as rows from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  sizes = new Map(rows.map((table) => [table.name, table.rows]));
  explained = await ExplainedStatements.start(database.url);
  monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  office = new BoxOffice(monolith);
}, 120_000);
afterAll(async () => {
  await monolith.close();
  await client.end();
  await Promise.all([database.close(), redis.close()]);
});

/** The history has no messages that wait. */
async function addWaitingMessages(): Promise<void> {
  await client.query(
    `insert into outbox (id, destination, event, aggregate_id, body) select gen_random_uuid(), 'elsewhere', 'event', 'about ' || n, '{}'
     from generate_series(1, 10000) as n`,
  );
  await client.query(
    `insert into transfer_offers (id, ticket_id, match_id, from_user_id, to_user_id, status, created_at, expires_at, ended_at)
     select gen_random_uuid(), id, match_id, user_id, gen_random_uuid(), 'declined', issued_at, issued_at, issued_at
     from tickets where status = 'valid' limit 10000`,
  );
  await client.query(
    `with webhook as (
       insert into webhooks (id, url, events, secret, created_by)
       values (gen_random_uuid(), 'https://partner.example', '{order.completed}', 'whsec_of_the_test', gen_random_uuid()) returning id
     ) insert into webhook_deliveries (id, webhook_id, event_id, type, subject_id, body, created_at, state)
       select gen_random_uuid(), webhook.id, gen_random_uuid(), 'order.completed', gen_random_uuid(), '{}', now(), 'delivered'
       from webhook, generate_series(1, 10000)`,
  );
  await client.query(
    `insert into queued_jobs (message_id, queue, body) select gen_random_uuid(), 'elsewhere', '{}' from generate_series(1, 10000)`,
  );
}

/** How the statements of `work` read a large part of a large table. Empty if none does. */
async function largeScansOf(work: () => Promise<unknown>): Promise<string[]> {
  const isLarge = ({ table, how, rows }: TableScan): boolean =>
    (sizes.get(table) ?? 0) >= LARGE_ROWS && (how === 'Seq Scan' || rows > MAX_ROWS);
  const mayScan = ({ table, statement }: TableScan): boolean =>
    MAY_SCAN.some(([beginning, name]) => table === name && statement.startsWith(beginning));
  const found = (await explained.during(work)).filter((scan) => isLarge(scan) && !mayScan(scan));
  return [...new Set(found.map(({ table, how, rows, statement }) => `${table}: ${how}, ${rows} rows, in: ${statement}`))];
}

const largeScansOfRead = ({ url, by }: Read): Promise<string[]> =>
  largeScansOf(async () => {
    const { status, text } = await monolith.call('GET', `/api/v1${url}`, by);
    if (status !== 200 && status !== 404) throw new Error(`GET ${url}: ${status} ${text}`);
  });

test('the history fills every table of which a long history makes a large one', () => {
  const small = [...sizes].flatMap(([name, rows]) => (rows < LARGE_ROWS ? [name] : []));
  expect(small.filter((name) => !SMALL_TABLES.includes(name))).toEqual([]);
});

test('the list of reads has every GET of the API with each of its filters', async () => {
  const file = path.resolve(import.meta.dirname, '../../docs/reference/openapi.monolith.json');
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;
  const read = (await allReads(client)).map(({ url }) => new URL(`/api/v1${url}`, 'http://host'));
  const missing = Object.entries(paths).flatMap(([route, { get }]) => {
    if (!get || route.endsWith('/availability')) return [];
    const pattern = new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    const calls = read.filter(({ pathname }) => pattern.test(pathname));
    const filters = (get.parameters ?? []).filter(
      (parameter) => parameter.in === 'query' && !['limit', 'cursor'].includes(parameter.name),
    );
    const unused = filters.filter(({ name }) => !calls.some(({ searchParams }) => searchParams.has(name)));
    return calls.length === 0 ? [route] : unused.map(({ name }) => `${route}?${name}`);
  });
  expect(missing).toEqual([]);
});

test('no read of fans, operators and partners scans a large table', async () => {
  const found: Record<string, readonly string[]> = {};
  for (const read of await allReads(client)) {
    const scans = await largeScansOfRead(read);
    if (scans.length > 0) found[read.url] = scans;
  }
  expect(found).toEqual({});
}, 60_000);

test('no step of a purchase and no periodic task scans a large table', async () => {
  const queued = await putOnSale(monolith, { queue_required: true, sectors: [seated('East A')] });
  const single = await putOnSale(monolith, { sectors: [seated('East A', 1, 1)] });
  const direct = await putOnSale(monolith);
  const purchases = async (): Promise<void> => {
    const as = randomUUID();
    const turn = await grantTurn(monolith, queued.id, as);
    const bought = await office.ordered(await office.held(queued, { as, turn, quantity: 2 }));
    await office.settle(office.report(bought));
    await office.settle(office.report(await office.ordered(await office.held(single))));
    await office.release(await office.held(direct));
    await office.ordered(await office.held(direct));
  };
  expect(await largeScansOf(purchases)).toEqual([]);

  // Work for the tasks: a turn that holds seats, one that has been idle for long, a hold that has expired, and a match that is sold out.
  const [holder, idle] = [randomUUID(), randomUUID()];
  await office.held(queued, { as: holder, turn: await grantTurn(monolith, queued.id, holder) });
  await grantTurn(monolith, queued.id, idle);
  await client.query(`update purchase_windows set created_at = now() - interval '10 minutes' where user_id = $1`, [idle]);
  const { id, seatIds } = await office.held(direct);
  for (const table of ['reservations', 'seats'])
    await client.query(`update ${table} set expires_at = now() - interval '1 second' where id = any($1)`, [[id, ...seatIds]]);
  expect(await largeScansOf(runAllTasks)).toEqual([]);
  const { rows } = await client.query(
    `select (select sale_status from matches where id = $1) as single, (select status from reservations where id = $2) as hold`,
    [single.id, id],
  );
  expect(rows).toEqual([{ single: 'sold_out', hold: 'expired' }]);
}, 60_000);

test('neither the erasing of a fan nor the rules of the retention job scan a large table', async () => {
  const { rows } = await client.query<{ fan: string }>(
    `select user_id as fan from orders where status = 'completed' order by id limit 1`,
  );
  const erase = async (): Promise<void> => {
    const { status, text } = await monolith.call('DELETE', '/api/v1/me', { as: rows[0]!.fan });
    if (status !== 204) throw new Error(`not erased: ${status} ${text}`);
  };
  expect(await largeScansOf(erase)).toEqual([]);
  const owner = await openDatabase({ url: database.url, name: 'retention-test', poolSize: 1 });
  const redisOfJob = connectRedis(redis.url, { name: 'retention-test' });
  await whenReady(redisOfJob);
  const retention = new Retention(
    owner,
    redisOfJob,
    new FanErasures(owner, redisOfJob),
    createLogger({ service: 'test', level: 'silent' }),
  );
  expect(await largeScansOf(() => retention.runRules())).toEqual([]);
  await closeRedis(redisOfJob);
  await owner.destroy();
}, 60_000);

/** Runs each periodic task of the monolith and of the notification worker once: the first run of each is at the start. */
async function runAllTasks(): Promise<void> {
  const resources = await openResources({ ...monolith.config, ALERT_WEBHOOK_URL: 'http://127.0.0.1:1' }, 'monolith');
  const app = await createMonolith(resources);
  await app.get(PeriodicTasks, { strict: false }).stop();
  await app.close();
  const worker = await runWorker({}, { database, redis });
  await worker.app.get(PeriodicTasks, { strict: false }).stop();
  await worker.close();
}

test.each([
  ['orders', 'orders_by_email', '/ops/orders?q=ana%40example.com'],
  ['order_timeline', 'order_timeline_ends', '/ops/orders?status=refunded'],
  ['orders', 'orders_by_match', '/ops/matches/{match}/report'],
])('negative control: a read that scans %s because %s is missing is found', async (table, index, url) => {
  const reads = await allReads(client);
  const example = reads.find((read) => read.url.startsWith('/ops/matches/') && read.url.endsWith('/report'))!;
  await client.query(`drop index ${index}`);
  const read = { ...example, url: url.includes('{match}') ? example.url : url };
  expect(await largeScansOfRead(read)).toContainEqual(expect.stringMatching(`^${table}: `));
});
