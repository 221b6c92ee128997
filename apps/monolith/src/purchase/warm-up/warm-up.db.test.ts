import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { createLogger } from '#platform/logging/logger';
import { loadConfig } from '#platform/config/load-config';
import { driverClientOf } from '#platform/postgres/database';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { monolithConfig } from '../../config.ts';
import { createMonolith } from '../../monolith.ts';
import { openResources } from '../../resources.ts';
import { openMonolith, putOnSale, seated, type WholeMonolith } from '../../testing/whole-monolith.ts';
import { BoxOffice } from '../testing/box-office.ts';
import { SECTOR_SNAPSHOTS, type SectorSnapshots } from '../hold/outbound/sector-snapshot.ts';
import { RehearsedHolds } from './rehearsed-holds.ts';
import { RehearsedPurchases } from './rehearsed-purchases.ts';
import { WarmUpSchedule } from './warm-up.schedule.ts';

let database: TestDatabase;
let redis: TestRedis;
let monolith: WholeMonolith;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  await monolith.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await monolith.close();
  await Promise.all([database.close(), redis.close()]);
});

/** The number of rows of each table, the last order number, and the keys in Redis. */
async function state(): Promise<Record<string, unknown>> {
  const tables = await monolith.dataSource.query<{ name: string }[]>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
  );
  const counts: Record<string, unknown> = {};
  for (const { name } of tables) [counts[name]] = await monolith.dataSource.query<unknown[]>(`select count(*) from "${name}"`);
  counts.order_numbers = await monolith.dataSource.query('select last_value, is_called from order_numbers');
  counts.keys = (await monolith.resources.redis.keys('*')).sort();
  return counts;
}

test('a whole warm-up leaves every table, the order numbers and Redis as they were, and verify finds nothing', async () => {
  const match = await putOnSale(monolith);
  const office = new BoxOffice(monolith);
  await office.ordered(await office.held(match, { quantity: 2 }));
  const before = await state();
  await monolith.get(WarmUpSchedule).runOnce(Date.now());
  // The last keys are forgotten without waiting for Redis.
  await sleep(100);
  expect(await state()).toEqual(before);
  const { invariants } = await verifyDatabase(monolith.dataSource, {});
  expect(invariants.filter(({ broken }) => broken > 0)).toEqual([]);
}, 90_000);

test('a seat of a sale is held while purchases are rehearsed: the rehearsal locks no seat and no fan', async () => {
  const office = new BoxOffice(monolith);
  const match = await putOnSale(monolith, { sectors: [seated('West', 10, 20)], max_tickets_per_fan: 4 });
  const rehearsing = Promise.all([monolith.get(RehearsedPurchases).run(8), monolith.get(RehearsedHolds).run(4)]);
  const holds = await Promise.all(Array.from({ length: 50 }, () => office.hold(match, { quantity: 4 })));
  expect(holds.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
  await rehearsing;
});

test('the statements of a purchase have generic plans on a third of the pool afterwards', async () => {
  await monolith.get(RehearsedPurchases).run(8);
  const runners = Array.from({ length: 8 }, () => monolith.dataSource.createQueryRunner());
  const clients = await Promise.all(runners.map(driverClientOf));
  const statements = [
    'lock-unlocked-reservations',
    'place-orders',
    'set-first-intents',
    'complete-holds',
    'add-tickets',
    'append-messages',
  ];
  const planned = `select count(*)::int as n from pg_prepared_statements where generic_plans > 0 and name in (${statements.map((name) => `'${name}'`).join()})`;
  const counts = await Promise.all(clients.map((client) => client.query<{ rows: { n: number }[] }>(planned)));
  await Promise.all(runners.map((runner) => runner.release()));
  expect(counts.map(({ rows }) => rows[0]?.n)).toEqual(counts.map(() => statements.length));
});

test('sectors are loaded five minutes before their sale opens, not earlier', async () => {
  const opensAt = Date.now() + 3_600_000;
  const match = await putOnSale(monolith, { opens_at: new Date(opensAt).toISOString() });
  const isLoaded = (): boolean =>
    monolith.app.get<SectorSnapshots>(SECTOR_SNAPSHOTS, { strict: false }).has(match.sectors[0]!.id);
  const warmUp = monolith.get(WarmUpSchedule);
  await warmUp.runOnce(opensAt - 301_000);
  expect(isLoaded()).toBe(false);
  await warmUp.runOnce(opensAt - 299_000);
  expect(isLoaded()).toBe(true);
});

test('the route of rehearsals is for our own services only', async () => {
  const id = '0190a000-0000-7000-8000-00000000000a';
  const answer = await monolith.call('POST', `/internal/rehearsals/${id}`, { body: { sector_id: id, quantity: 2 } });
  expect(answer.status).toBe(401);
});

test('a process with a warm-up is ready only after it, and logs no request and no failure of it', async () => {
  let log = '';
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url, LOG_LEVEL: 'info', LOG_READS_EVERY: '1' };
  const resources = await openResources(loadConfig(monolithConfig, settings), 'monolith');
  const logger = createLogger({
    service: 'monolith',
    level: 'info',
    destination: { write: (line: string) => void (log += line) },
  });
  const app = await createMonolith({ ...resources, logger }, { backgroundWork: true, warmUp: true });
  try {
    await app.listen({ port: 0, host: '127.0.0.1' });
    const isReady = async (): Promise<boolean> => (await fetch(`${await app.getUrl()}/health/ready`)).status === 200;
    expect(await isReady()).toBe(false);
    for (const giveUpAt = Date.now() + 60_000; !log.includes('warmed up') && Date.now() < giveUpAt;) await sleep(100);
    expect(await isReady()).toBe(true);
    expect(log).toContain('warmed up');
    expect(log).not.toMatch(/"level":"(warn|error|fatal)"|rehearsals/);
  } finally {
    await app.close();
  }
}, 90_000);
