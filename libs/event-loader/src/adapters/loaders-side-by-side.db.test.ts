import { createLogger } from '#platform/logging/logger';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { EventSources } from '#testing/event-sources';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type pg from 'pg';
import type { Source } from '../core/event.ts';
import { EventStore, SourceRateLimiter, type AppendResult, type Batch, type LockFactory } from '../core/ports.ts';
import { RoundRobinEventLoader } from '../core/round-robin-event-loader.ts';
import { MemoryLocks } from '../testing/memory-parts.ts';
import { sourceNamed } from '../testing/sources.ts';
import { HttpEventFetcher, type HttpSource } from './http-event-fetcher.ts';
import { openLoaderPools, PostgresEventStore, type LoaderPools } from './postgres-event-store.ts';
import { RecordedPolls } from './recorded-polls.ts';
import { RedisLocks } from './redis-locks.ts';
import { RedisSourceRateLimiter } from './redis-source-rate-limiter.ts';
import { MonotonicTime } from './monotonic-time.ts';

// Four loaders load the same sources at the same time, with real PostgreSQL, Redis and HTTP. The negative controls switch off the
// lock and the compare-and-set of the cursor. tests/faults runs the same check with killed and frozen processes.

const EVENTS_PER_SOURCE = 20_000;
let database: TestDatabase;
let server: TestRedis;
let redis: RedisConnection;
let pools: LoaderPools[];
const logger = createLogger({ service: 'test', level: 'silent' });

/** A rate limiter that never refuses a request. */
class UnlimitedRateLimiter extends SourceRateLimiter {
  tryAcquire = () => Promise.resolve({ requestFinished: () => Promise.resolve() });
}

/** A store without guarantees: no compare-and-set of the cursor, no lock number, no unique ids. */
class StoreWithoutGuarantees extends EventStore {
  constructor(private readonly pool: pg.Pool) {
    super();
  }
  async lastKnownId({ name }: Source): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ last: string | null }>(
      'select max(event_id::int)::text as last from unguarded_events where source = $1',
      [name],
    );
    return rows[0]?.last ?? undefined;
  }
  async append({ source, events }: Batch): Promise<AppendResult> {
    await this.pool.query('insert into unguarded_events select $1, unnest($2::text[])', [
      source.name,
      events.map(({ id }) => id),
    ]);
    return { kind: 'appended', stored: events.length, refused: 0, quarantined: 0 };
  }
}

beforeAll(async () => {
  [database, server] = await Promise.all([createTestDatabase(), createTestRedis()]);
  redis = connectRedis(server.url, { name: 'test' });
  await whenReady(redis);
  pools = Array.from({ length: 4 }, () => openLoaderPools(database.url));
  await pools[0]!.reads.query('create table unguarded_events (source text, event_id text)');
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  await closeRedis(redis);
  await Promise.all([database.close(), server.close()]);
});

/** What the four loaders of one test use. */
interface LoaderSetup {
  readonly locks: LockFactory;
  readonly rateLimiter: SourceRateLimiter;
  readonly storeOf?: (pools: LoaderPools) => EventStore;
}

/**
 * Runs four loaders until both sources were asked for events after their last one, at most 8 s. Returns the two sources, which
 * have recorded all requests.
 */
async function runFourLoaders(prefix: string, setup: LoaderSetup): Promise<EventSources> {
  const sources = await EventSources.open({ sizeOf: () => EVENTS_PER_SOURCE });
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
        store: (setup.storeOf ?? ((loaderPools) => new PostgresEventStore(loaderPools, { onRetry: () => undefined })))(own),
        log: new RecordedPolls(own.reads, logger),
        time: new MonotonicTime(),
        ...setup,
      }),
  );
  const running = Promise.all(loaders.map((loader) => loader.run(stop.signal)));
  for (const giveUpAt = Date.now() + 8000; Date.now() < giveUpAt; await new MonotonicTime().sleep(50)) {
    if (list.every(({ name }) => sources.ledgerOf(name).askedAfter.includes(EVENTS_PER_SOURCE))) break;
  }
  stop.abort();
  await running;
  await sources.close();
  return sources;
}

async function counted(table: string, prefix: string): Promise<{ rows: number; ids: number }> {
  const { rows } = await pools[0]!.reads.query<{ rows: number; ids: number }>(
    `select count(*)::int as rows, count(distinct (source, event_id))::int as ids from ${table} where source like $1`,
    [`${prefix}-%`],
  );
  return rows[0]!;
}

test('with lock, rate limiter and compare-and-set: each event is fetched once and stored once, requests are 200 ms apart', async () => {
  const sources = await runFourLoaders('held', { locks: new RedisLocks(redis), rateLimiter: new RedisSourceRateLimiter(redis) });
  expect(await counted('loaded_events', 'held')).toEqual({ rows: 2 * EVENTS_PER_SOURCE, ids: 2 * EVENTS_PER_SOURCE });
  expect([sources.total('sent'), sources.total('sentAgain')]).toEqual([2 * EVENTS_PER_SOURCE, 0]);
  expect(sources.minGapMs()).toBeGreaterThanOrEqual(200);
}, 30_000);

test('negative control, lock off: events are fetched twice, but stored once', async () => {
  const sources = await runFourLoaders('unlocked', { locks: new MemoryLocks(false), rateLimiter: new UnlimitedRateLimiter() });
  expect(sources.total('sentAgain')).toBeGreaterThan(0);
  const { rows, ids } = await counted('loaded_events', 'unlocked');
  expect(rows).toBe(ids);
  expect(rows).toBe(2 * EVENTS_PER_SOURCE);
}, 30_000);

test('negative control, lock and compare-and-set off: events are stored twice', async () => {
  const storeOf = (own: LoaderPools): EventStore => new StoreWithoutGuarantees(own.reads);
  await runFourLoaders('unguarded', { locks: new MemoryLocks(false), rateLimiter: new UnlimitedRateLimiter(), storeOf });
  const { rows, ids } = await counted('unguarded_events', 'unguarded');
  expect(rows).toBeGreaterThan(ids);
}, 30_000);
