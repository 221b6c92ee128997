import { createLogger } from '#platform/logging/logger';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { EventSources } from '#testing/event-sources';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type pg from 'pg';
import type { Source } from '../core/event.ts';
import { EventStore, SourceRateLimiter, type Appended, type Batch, type LockFactory } from '../core/ports.ts';
import { RoundRobinEventLoader } from '../core/round-robin-event-loader.ts';
import { MemoryLocks } from '../testing/memory-parts.ts';
import { sourceNamed } from '../testing/sources.ts';
import { HttpEventFetcher, type HttpSource } from './http-event-fetcher.ts';
import { openLoaderPools, PostgresEventStore, type LoaderPools } from './postgres-event-store.ts';
import { RecordedPolls } from './recorded-polls.ts';
import { RedisLocks } from './redis-locks.ts';
import { RedisSourceRateLimiter } from './redis-source-rate-limiter.ts';
import { SteadyTime } from './steady-time.ts';

// Four loaders over the same sources, on a real PostgreSQL, Redis and HTTP: what holds, and what breaks once the lock and the
// compare-and-set are taken away. The same with processes that are killed and frozen: tests/faults.

const SIZE = 20_000;
let database: TestDatabase;
let server: TestRedis;
let redis: RedisConnection;
let pools: LoaderPools[];
const logger = createLogger({ service: 'test', level: 'silent' });

/** Everybody passes. */
class UnlimitedProvider extends SourceRateLimiter {
  tryPass = () => Promise.resolve({ used: () => Promise.resolve() });
}

/** Believes what it is told: no compare-and-set, no fence, no unique id. */
class CarelessStore extends EventStore {
  constructor(private readonly pool: pg.Pool) {
    super();
  }
  async lastKnownId({ name }: Source): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ last: string | null }>(
      'select max(event_id::int)::text as last from careless_events where source = $1',
      [name],
    );
    return rows[0]?.last ?? undefined;
  }
  async append({ source, events }: Batch): Promise<Appended> {
    await this.pool.query('insert into careless_events select $1, unnest($2::text[])', [source.name, events.map(({ id }) => id)]);
    return { kind: 'appended', stored: events.length, refused: 0, quarantined: 0 };
  }
}

beforeAll(async () => {
  [database, server] = await Promise.all([createTestDatabase(), createTestRedis()]);
  redis = connectRedis(server.url, { name: 'test' });
  await whenReady(redis);
  pools = Array.from({ length: 4 }, () => openLoaderPools(database.url));
  await pools[0]!.look.query('create table careless_events (source text, event_id text)');
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  await closeRedis(redis);
  await Promise.all([database.drop(), server.close()]);
});

interface Parts {
  readonly locks: LockFactory;
  readonly gate: SourceRateLimiter;
  readonly storeOf?: (pools: LoaderPools) => EventStore;
}

/** Runs four of them until everything is there, or for four seconds; what the sources saw. */
async function loadSideBySide(prefix: string, parts: Parts): Promise<EventSources> {
  const sources = await EventSources.open({ sizeOf: () => SIZE });
  const list: HttpSource[] = [`${prefix}-1`, `${prefix}-2`].map((name) => ({
    ...sourceNamed(name),
    kind: 'http',
    url: sources.urlOf(name),
    headers: {},
  }));
  const stop = new AbortController();
  const loaders = pools.map(
    (own) =>
      new RoundRobinEventLoader<HttpSource>({
        sources: list,
        fetcher: new HttpEventFetcher(),
        store: (parts.storeOf ?? ((given) => new PostgresEventStore(given)))(own),
        log: new RecordedPolls(own.look, logger),
        time: new SteadyTime(),
        ...parts,
      }),
  );
  const running = Promise.all(loaders.map((loader) => loader.run(stop.signal)));
  for (const giveUpAt = Date.now() + 8000; Date.now() < giveUpAt; await new SteadyTime().sleep(50)) {
    if (list.every(({ name }) => sources.ledgerOf(name).askedAfter.includes(SIZE))) break;
  }
  stop.abort();
  await running;
  await sources.close();
  return sources;
}

async function counted(table: string, prefix: string): Promise<{ rows: number; ids: number }> {
  const { rows } = await pools[0]!.look.query<{ rows: number; ids: number }>(
    `select count(*)::int as rows, count(distinct (source, event_id))::int as ids from ${table} where source like $1`,
    [`${prefix}-%`],
  );
  return rows[0]!;
}

test('with lock, gate and compare-and-set: transported once, stored once, a gap between any two requests', async () => {
  const sources = await loadSideBySide('held', { locks: new RedisLocks(redis), gate: new RedisSourceRateLimiter(redis) });
  expect(await counted('loaded_events', 'held')).toEqual({ rows: 2 * SIZE, ids: 2 * SIZE });
  expect([sources.total('sent'), sources.total('sentAgain')]).toEqual([2 * SIZE, 0]);
  expect(sources.leastGapMs()).toBeGreaterThanOrEqual(200);
}, 30_000);

test('negative control, lock off: transported twice, and still stored once', async () => {
  const sources = await loadSideBySide('unlocked', { locks: new MemoryLocks(false), gate: new UnlimitedProvider() });
  expect(sources.total('sentAgain')).toBeGreaterThan(0);
  const { rows, ids } = await counted('loaded_events', 'unlocked');
  expect(rows).toBe(ids);
  expect(rows).toBe(2 * SIZE);
}, 30_000);

test('negative control, lock and compare-and-set off: stored twice', async () => {
  const storeOf = (own: LoaderPools): EventStore => new CarelessStore(own.look);
  await loadSideBySide('careless', { locks: new MemoryLocks(false), gate: new UnlimitedProvider(), storeOf });
  const { rows, ids } = await counted('careless_events', 'careless');
  expect(rows).toBeGreaterThan(ids);
}, 30_000);
