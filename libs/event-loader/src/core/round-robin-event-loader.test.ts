import {
  ManualTime,
  MemoryFetcher,
  MemoryRateLimiter,
  MemoryLocks,
  MemoryStore,
  MemoryPollLog,
} from '../testing/memory-parts.ts';
import { eventsFrom, sourceNamed } from '../testing/sources.ts';
import { EventFetchError, type Event, type Source } from './event.ts';
import { EventStore, LockFactory, type AppendResult, type Batch } from './ports.ts';
import { RoundRobinEventLoader } from './round-robin-event-loader.ts';

interface Options {
  readonly locks?: LockFactory;
  readonly store?: EventStore;
  readonly overlap?: number;
  readonly time?: ManualTime;
  readonly rateLimiter?: MemoryRateLimiter;
}

function setUp(names: readonly string[], options: Options = {}) {
  const time = options.time ?? new ManualTime();
  const sources = names.map((name) => sourceNamed(name, { overlap: options.overlap ?? 0 }));
  const parts = {
    sources,
    time,
    fetcher: new MemoryFetcher(time),
    store: new MemoryStore(),
    locks: new MemoryLocks(),
    rateLimiter: new MemoryRateLimiter(time),
    log: new MemoryPollLog(),
  };
  const newLoader = () => new RoundRobinEventLoader<Source>({ ...parts, ...options });
  return { ...parts, loader: newLoader(), newLoader, source: sources[0]! };
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

test('one pass polls every source once, for at most 1,000 events after its cursor', async () => {
  const { loader, fetcher, store, sources, time } = setUp(['north', 'south']);
  for (const { name } of sources) fetcher.offered.set(name, eventsFrom(1, 1500));
  expect(await loader.runOnce()).toBe(true);
  time.advance(200);
  expect(await loader.runOnce()).toBe(true);
  time.advance(200);
  expect(await loader.runOnce()).toBe(false);
  expect(fetcher.requests.map(({ source, afterId }) => [source, afterId])).toEqual([
    ...[
      ['north', undefined],
      ['south', undefined],
    ],
    ...[
      ['north', '1000'],
      ['south', '1000'],
    ],
    ...[
      ['north', '1500'],
      ['south', '1500'],
    ],
  ]);
  for (const source of sources) expect(store.stored(source)).toEqual(ids(1500));
});

test('a source that is locked or rate limited is skipped without a request', async () => {
  const { loader, newLoader, fetcher, locks, source, log, time } = setUp(['north']);
  fetcher.offered.set('north', eventsFrom(1, 1));
  const lock = (await locks.tryAcquire(source))!;
  expect(await loader.runOnce()).toBe(false);
  await lock.release();
  await loader.runOnce();
  await newLoader().runOnce();
  time.advance(199);
  await newLoader().runOnce();
  expect(log.kinds()).toEqual(['locked', 'appended', 'rateLimited', 'rateLimited']);
  expect(fetcher.requests).toHaveLength(1);
});

test('a slow source delays the other sources only once, by 500 ms at most; its poll goes on in the background', async () => {
  /** A clock of a test in which only the answer of source `slow` takes real time. */
  class TimeWithSlowAnswers extends ManualTime {
    override async sleep(ms: number): Promise<void> {
      await new Promise((later) => setImmediate(later));
      this.advance(ms);
    }
    override async finishesWithin(ms: number, work: Promise<void>): Promise<boolean> {
      const isFinished = await Promise.race([
        work.then(() => true),
        new Promise<boolean>((later) => setTimeout(later, 20, false)),
      ]);
      if (!isFinished) this.advance(ms);
      return isFinished;
    }
  }
  const time = new TimeWithSlowAnswers();
  const { fetcher, store, sources, newLoader, log } = setUp(['slow', 'quick'], { time });
  for (const { name } of sources) fetcher.offered.set(name, eventsFrom(1, 5000));
  let answer = (): void => undefined;
  fetcher.beforeAnswer = ({ name }) => (name === 'slow' ? new Promise<void>((resolve) => (answer = resolve)) : undefined);
  const stop = { aborted: false };
  const running = newLoader().run(stop);
  while (store.stored(sources[1]!).length < 5000) await new Promise((resolve) => setTimeout(resolve, 1));
  expect([store.stored(sources[0]!).length, fetcher.requests.filter(({ source }) => source === 'slow').length]).toEqual([0, 1]);
  stop.aborted = true;
  answer();
  await running;
  // After the stop signal the loader finished its running poll.
  expect(store.stored(sources[0]!)).toHaveLength(1000);
  expect(log.kinds().at(-1)).toBe('appended');
});

test('the lock of a source that another loader holds is requested less and less often, until the lock is free', async () => {
  const { loader, fetcher, locks, source, time } = setUp(['north']);
  let lockRequests = 0;
  const tryAcquire = locks.tryAcquire.bind(locks);
  locks.tryAcquire = (of) => ((lockRequests += 1), tryAcquire(of));
  fetcher.offered.set('north', eventsFrom(1, 1));
  const lock = (await tryAcquire(source))!;
  for (let pass = 0; pass < 100; pass += 1) {
    await loader.runOnce();
    time.advance(100);
  }
  // In ten seconds the lock is requested twice without a pause, then after 400 ms, after 800 ms and every 1,600 ms.
  expect(lockRequests).toBeGreaterThan(6);
  expect(lockRequests).toBeLessThan(11);
  await lock.release();
  time.advance(1600);
  expect(await loader.runOnce()).toBe(true);
});

test('a source that fails is skipped, its lock is released, and the other sources are loaded', async () => {
  const { loader, fetcher, locks, store, sources, log } = setUp(['dead', 'alive']);
  fetcher.failing.set('dead', new EventFetchError('SOURCE_FAILED', 'it answered 500'));
  fetcher.offered.set('alive', eventsFrom(1, 3));
  expect(await loader.runOnce()).toBe(true);
  expect(log.kinds()).toEqual(['failed', 'appended']);
  expect(store.stored(sources[1]!)).toEqual(ids(3));
  expect(await locks.tryAcquire(sources[0]!)).toBeDefined();
});

test('a source that does not answer is paused for longer and longer, until it answers', async () => {
  const { loader, fetcher, time, log } = setUp(['dead']);
  fetcher.failing.set('dead', new EventFetchError('SOURCE_UNREACHABLE', 'ECONNREFUSED'));
  for (let pass = 0; pass < 60 * 5; pass += 1) {
    await loader.runOnce();
    time.advance(200);
  }
  // In one minute the dead source gets five requests in a row, then one after 1, 2, 4, 8 and 16 seconds each.
  expect(fetcher.requests.length).toBeLessThan(12);
  // The source’s breaker is reported once, when it opens, and not at each failed try.
  expect(log.opened).toEqual(['dead']);
  fetcher.failing.clear();
  fetcher.offered.set('dead', eventsFrom(1, 1));
  time.advance(30_000);
  expect(await loader.runOnce()).toBe(true);
});

test('a source that sends only invalid entries is paused like a failing one after the entries are quarantined', async () => {
  const { loader, fetcher, store, source, time } = setUp(['invalid']);
  fetcher.offered.set('invalid', [{ id: null, payload: 1 }]);
  for (let pass = 0; pass < 60 * 5; pass += 1) {
    await loader.runOnce();
    time.advance(200);
  }
  expect(fetcher.requests.length).toBeLessThan(14);
  expect(store.quarantined(source)).toHaveLength(1);
});

test('invalid entries that two loaders have read once each do not count as a failure of the source', async () => {
  const { newLoader, fetcher, log, time } = setUp(['file']);
  fetcher.offered.set('file', [{ id: null, payload: 1 }]);
  const first = newLoader();
  await first.runOnce();
  time.advance(200);
  await newLoader().runOnce();
  fetcher.offered.set('file', []);
  time.advance(200);
  await first.runOnce();
  expect(log.kinds()).toEqual(['appended', 'appended', 'idle']);
});

test('a source that answers 401 is not polled again for a minute', async () => {
  const { loader, fetcher, time, log } = setUp(['private']);
  fetcher.failing.set('private', new EventFetchError('SOURCE_FORBIDDEN', 'it answered 401'));
  for (let pass = 0; pass < 50; pass += 1) {
    await loader.runOnce();
    time.advance(1000);
  }
  expect(fetcher.requests).toHaveLength(1);
  expect(log.opened).toEqual([]);
});

test('the loader sleeps 100 ms after a pass over all sources without new events, and does not sleep after a pass with new events', async () => {
  const time = new ManualTime();
  /** A rate limiter that knows the gap after the loader's own request from local memory, as the rate limiter in Redis does. */
  class LimiterWithLocalKnowledge extends MemoryRateLimiter {
    override isKnownLimited = (): boolean => time.now() < (fetcher.requests.at(-1)?.at ?? 0) + 200 && fetcher.requests.length > 0;
  }
  const { loader, fetcher } = setUp(['north'], { time, rateLimiter: new LimiterWithLocalKnowledge(time) });
  fetcher.offered.set('north', eventsFrom(1, 1));
  const startedAt = time.now();
  const stop = {
    checks: 0,
    get aborted() {
      return (this.checks += 1) > 30;
    },
  };
  await loader.run(stop);
  const requestTimes = fetcher.requests.map(({ at }) => at - startedAt);
  expect(requestTimes.slice(0, 3)).toEqual([0, 200, 400]);
});

test('after the stop signal the loader finishes the running poll and starts no other', async () => {
  const { loader, fetcher, store, sources } = setUp(['north', 'south']);
  for (const { name } of sources) fetcher.offered.set(name, eventsFrom(1, 5));
  const stop = { aborted: false };
  fetcher.beforeAnswer = () => void (stop.aborted = true);
  await loader.run(stop);
  expect(store.stored(sources[0]!)).toEqual(ids(5));
  expect(fetcher.requests).toHaveLength(1);
});

test('if the lock is lost during a fetch, the fetched events are dropped, and the new lock holder loads them', async () => {
  const { loader, newLoader, fetcher, locks, store, source, time, log } = setUp(['north']);
  fetcher.offered.set('north', eventsFrom(1, 10));
  const second = newLoader();
  let isFrozen = true;
  fetcher.beforeAnswer = async () => {
    if (!isFrozen) return;
    isFrozen = false;
    locks.expireAll();
    time.advance(500);
    await second.runOnce();
  };
  await loader.runOnce();
  expect(log.kinds()).toEqual(['appended', 'stale']);
  expect(store.stored(source)).toEqual(ids(10));
});

describe('a permit of the rate limiter is valid for 250 ms', () => {
  /** A store that needs `ms` to read the cursor. */
  class SlowStore extends MemoryStore {
    constructor(
      private readonly time: ManualTime,
      private readonly ms: number,
    ) {
      super();
    }
    override lastKnownId(source: Source): Promise<string | undefined> {
      this.time.advance(this.ms);
      return super.lastKnownId(source);
    }
  }
  /** A rate limiter whose permit arrives `ms` after it was requested; the 250 ms of the permit count from the request. */
  class SlowLimiter extends MemoryRateLimiter {
    constructor(
      private readonly clock: ManualTime,
      private readonly ms: number,
    ) {
      super(clock);
    }
    override async tryAcquire(source: Source) {
      const permit = await super.tryAcquire(source);
      this.clock.advance(this.ms);
      return permit;
    }
  }

  test.each([
    { delay: 'reading the cursor', ms: 250, kinds: ['appended'], requests: 1 },
    { delay: 'reading the cursor', ms: 251, kinds: ['permitExpired'], requests: 0 },
    { delay: 'waiting for the rate limiter', ms: 250, kinds: ['appended'], requests: 1 },
    { delay: 'waiting for the rate limiter', ms: 251, kinds: ['permitExpired'], requests: 0 },
  ])('$delay takes $ms ms: the poll ends as $kinds', async ({ delay, ms, kinds, requests }) => {
    const time = new ManualTime();
    const slow = delay === 'reading the cursor' ? { store: new SlowStore(time, ms) } : { rateLimiter: new SlowLimiter(time, ms) };
    const { loader, fetcher, log } = setUp(['north'], { time, ...slow });
    fetcher.offered.set('north', eventsFrom(1, 3));
    await loader.runOnce();
    expect([log.kinds(), fetcher.requests.length]).toEqual([kinds, requests]);
  });

  test('a loader that was frozen after it got a permit does not send its request when it wakes up', async () => {
    const time = new ManualTime();
    let other: RoundRobinEventLoader<Source> | undefined;
    /** Freezes the loader that reads the cursor for longer than its lock and permit live; meanwhile another loader polls. */
    class FreezingStore extends MemoryStore {
      override async lastKnownId(source: Source): Promise<string | undefined> {
        const [otherLoader, id] = [other, await super.lastKnownId(source)];
        other = undefined;
        if (otherLoader) {
          locks.expireAll();
          time.advance(450);
          await otherLoader.runOnce();
          time.advance(100);
        }
        return id;
      }
    }
    const { loader, newLoader, fetcher, locks, log } = setUp(['north'], { time, store: new FreezingStore() });
    fetcher.offered.set('north', eventsFrom(1, 3));
    other = newLoader();
    await loader.runOnce();
    expect(log.kinds()).toEqual(['appended', 'permitExpired']);
    expect(fetcher.requests).toHaveLength(1);
  });
});

test('with an overlap, an event with a lower id that appears later is loaded, and no event is stored twice', async () => {
  const { loader, fetcher, store, source, time } = setUp(['permitExpired'], { overlap: 5 });
  fetcher.offered.set('permitExpired', [...eventsFrom(1, 6), ...eventsFrom(8, 3)]);
  await loader.runOnce();
  fetcher.offered.set('permitExpired', eventsFrom(1, 10));
  time.advance(200);
  await loader.runOnce();
  expect(fetcher.requests[1]?.afterId).toBe('5');
  expect(store.stored(source).toSorted((a, b) => Number(a) - Number(b))).toEqual(ids(10));
});

test('a source whose events the store refuses is paused, and the other sources are loaded', async () => {
  class StoreThatRefusesOdd extends MemoryStore {
    override append(batch: Batch): Promise<AppendResult> {
      return batch.source.name === 'odd' ? Promise.reject(new Error('disk full')) : super.append(batch);
    }
  }
  const store = new StoreThatRefusesOdd();
  const { loader, fetcher, sources, time } = setUp(['odd', 'even'], { store });
  for (const { name } of sources) fetcher.offered.set(name, eventsFrom(1, 20_000));
  const startedAt = time.now();
  for (let pass = 0; pass < 25; pass += 1) {
    await loader.runOnce();
    time.advance(200);
  }
  expect(store.stored(sources[1]!)).toHaveLength(20_000);
  expect(fetcher.requests.filter(({ source }) => source === 'odd').length).toBeLessThan(9);
  expect(time.now() - startedAt).toBe(5000);
});

test('while the database is down each source is polled once a second, and loading goes on when it is back', async () => {
  let isDown = true;
  class StoreThatIsDown extends MemoryStore {
    override lastKnownId(source: Source): Promise<string | undefined> {
      return isDown ? Promise.reject(new Error('ECONNREFUSED')) : super.lastKnownId(source);
    }
  }
  const store = new StoreThatIsDown();
  const { loader, fetcher, log, source, time } = setUp(['north', 'south'], { store });
  fetcher.offered.set('north', eventsFrom(1, 3));
  const endAt = time.now() + 60_000;
  await loader.run({
    get aborted() {
      return time.now() >= endAt;
    },
  });
  expect(log.results.length).toBeLessThanOrEqual(2 * 60);
  isDown = false;
  time.advance(500);
  await loader.runOnce();
  expect(store.stored(source)).toEqual(ids(3));
});

describe('several loaders at the same time, with negative controls', () => {
  /** A store without guarantees: no compare-and-set of the cursor, no unique ids. */
  class StoreWithoutGuarantees extends EventStore {
    readonly events: string[] = [];
    private cursor: string | undefined;
    lastKnownId(): Promise<string | undefined> {
      return Promise.resolve(this.cursor);
    }
    append({ events, to }: Batch): Promise<AppendResult> {
      this.events.push(...events.map(({ id }: Event) => id));
      this.cursor = to;
      return Promise.resolve({ kind: 'appended', stored: events.length, refused: 0, quarantined: 0 });
    }
  }
  const pagesFetchedTwice = ({ fetcher }: { fetcher: MemoryFetcher }): number => {
    const afterIds = fetcher.requests.map(({ afterId }) => afterId);
    return afterIds.length - new Set(afterIds).size;
  };

  /** Nests polls: while a loader waits 500 ms for its answer, another loader polls the same source, up to three levels deep. */
  async function runNestedLoaders(options: Options) {
    const all = setUp(['north'], options);
    all.fetcher.offered.set('north', eventsFrom(1, 5000));
    let depth = 0;
    all.fetcher.beforeAnswer = async () => {
      if (depth >= 3) return;
      depth += 1;
      all.time.advance(500);
      await all.newLoader().runOnce();
      depth -= 1;
    };
    for (let pass = 0; pass < 5; pass += 1) {
      await all.loader.runOnce();
      all.time.advance(200);
    }
    return all;
  }

  test('with locks and compare-and-set no page is fetched twice and no event is stored twice', async () => {
    const all = await runNestedLoaders({});
    expect(pagesFetchedTwice(all)).toBe(0);
    expect(all.store.stored(all.source)).toEqual(ids(5000));
  });

  test('negative control, locks off: pages are fetched twice, but no event is stored twice', async () => {
    const all = await runNestedLoaders({ locks: new MemoryLocks(false) });
    expect(pagesFetchedTwice(all)).toBeGreaterThan(0);
    const stored = all.store.stored(all.source);
    expect(new Set(stored).size).toBe(stored.length);
    expect(all.log.kinds()).toContain('stale');
  });

  test('negative control, locks and compare-and-set off: events are stored twice', async () => {
    const store = new StoreWithoutGuarantees();
    await runNestedLoaders({ locks: new MemoryLocks(false), store });
    expect(new Set(store.events).size).toBeLessThan(store.events.length);
  });
});
