import { ManualTime, MemoryFetcher, MemoryRateLimiter, MemoryLocks, MemoryStore, PollList } from '../testing/memory-parts.ts';
import { eventsFrom, sourceNamed } from '../testing/sources.ts';
import { EventFetchError, type Event, type Source } from './event.ts';
import { EventStore, LockFactory, type Appended, type Batch } from './ports.ts';
import { RoundRobinEventLoader } from './round-robin-event-loader.ts';

interface Change {
  readonly locks?: LockFactory;
  readonly store?: EventStore;
  readonly overlap?: number;
  readonly time?: ManualTime;
  readonly gate?: MemoryRateLimiter;
}

function setUp(names: readonly string[], change: Change = {}) {
  const time = change.time ?? new ManualTime();
  const sources = names.map((name) => sourceNamed(name, { overlap: change.overlap ?? 0 }));
  const parts = {
    sources,
    time,
    fetcher: new MemoryFetcher(time),
    store: new MemoryStore(),
    locks: new MemoryLocks(),
    gate: new MemoryRateLimiter(time),
    log: new PollList(),
  };
  const another = () => new RoundRobinEventLoader<Source>({ ...parts, ...change });
  return { ...parts, loader: another(), another, source: sources[0]! };
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

test('a round asks every source once, for at most 1,000 events beyond its cursor', async () => {
  const { loader, fetcher, store, sources, time } = setUp(['north', 'south']);
  for (const { name } of sources) fetcher.offered.set(name, eventsFrom(1, 1500));
  expect(await loader.runOnce()).toBe(true);
  time.pass(200);
  expect(await loader.runOnce()).toBe(true);
  time.pass(200);
  expect(await loader.runOnce()).toBe(false);
  expect(fetcher.asked.map(({ source, afterId }) => [source, afterId])).toEqual([
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

test('a source that is locked or rateLimited is passed over, and not asked', async () => {
  const { loader, another, fetcher, locks, source, log, time } = setUp(['north']);
  fetcher.offered.set('north', eventsFrom(1, 1));
  const lock = (await locks.tryAcquire(source))!;
  expect(await loader.runOnce()).toBe(false);
  await lock.release();
  await loader.runOnce();
  await another().runOnce();
  time.pass(199);
  await another().runOnce();
  expect(log.kinds()).toEqual(['locked', 'appended', 'gated', 'gated']);
  expect(fetcher.asked).toHaveLength(1);
});

test('a source that keeps its answer for itself costs the others a moment, once', async () => {
  /** Nothing takes long but the answer of `slow`. */
  class ImpatientTime extends ManualTime {
    override async sleep(ms: number): Promise<void> {
      await new Promise((later) => setImmediate(later));
      this.pass(ms);
    }
    override async within(ms: number, work: Promise<void>): Promise<boolean> {
      const isOver = await Promise.race([work.then(() => true), new Promise<boolean>((later) => setTimeout(later, 20, false))]);
      if (!isOver) this.pass(ms);
      return isOver;
    }
  }
  const time = new ImpatientTime();
  const { fetcher, store, sources, another, log } = setUp(['slow', 'quick'], { time });
  for (const { name } of sources) fetcher.offered.set(name, eventsFrom(1, 5000));
  let answer = (): void => undefined;
  fetcher.onTheWay = ({ name }) => (name === 'slow' ? new Promise<void>((resolve) => (answer = resolve)) : undefined);
  const stop = { aborted: false };
  const running = another().run(stop);
  while (store.stored(sources[1]!).length < 5000) await new Promise((resolve) => setTimeout(resolve, 1));
  expect([store.stored(sources[0]!).length, fetcher.asked.filter(({ source }) => source === 'slow').length]).toEqual([0, 1]);
  stop.aborted = true;
  answer();
  await running;
  // Told to stop, it ended what was under way.
  expect(store.stored(sources[0]!)).toHaveLength(1000);
  expect(log.kinds().at(-1)).toBe('appended');
});

test('a source others take care of is asked about less and less, until it is to be had', async () => {
  const { loader, fetcher, locks, source, time } = setUp(['north']);
  let asked = 0;
  const tryAcquire = locks.tryAcquire.bind(locks);
  locks.tryAcquire = (of) => ((asked += 1), tryAcquire(of));
  fetcher.offered.set('north', eventsFrom(1, 1));
  const lock = (await tryAcquire(source))!;
  for (let round = 0; round < 100; round += 1) {
    await loader.runOnce();
    time.pass(100);
  }
  // In ten seconds: twice at once, then after 400, 800 and every 1,600 ms.
  expect(asked).toBeGreaterThan(6);
  expect(asked).toBeLessThan(11);
  await lock.release();
  time.pass(1600);
  expect(await loader.runOnce()).toBe(true);
});

test('a source that fails is skipped with its lock released, and the others are loaded', async () => {
  const { loader, fetcher, locks, store, sources, log } = setUp(['dead', 'alive']);
  fetcher.failing.set('dead', new EventFetchError('SOURCE_FAILED', 'it answered 500'));
  fetcher.offered.set('alive', eventsFrom(1, 3));
  expect(await loader.runOnce()).toBe(true);
  expect(log.kinds()).toEqual(['failed', 'appended']);
  expect(store.stored(sources[1]!)).toEqual(ids(3));
  expect(await locks.tryAcquire(sources[0]!)).toBeDefined();
});

test('a dead source costs nothing: it rests, longer and longer, until it answers', async () => {
  const { loader, fetcher, time, log } = setUp(['dead']);
  fetcher.failing.set('dead', new EventFetchError('SOURCE_UNREACHABLE', 'ECONNREFUSED'));
  for (let round = 0; round < 60 * 5; round += 1) {
    await loader.runOnce();
    time.pass(200);
  }
  // In a minute: five in a row, then after 1, 2, 4, 8, 16 seconds.
  expect(fetcher.asked.length).toBeLessThan(12);
  // People are told when it opens, not with each try that fails.
  expect(log.opened).toEqual(['dead']);
  fetcher.failing.clear();
  fetcher.offered.set('dead', eventsFrom(1, 1));
  time.pass(30_000);
  expect(await loader.runOnce()).toBe(true);
});

test('a source of nothing but junk rests like a dead one, once the junk is set aside', async () => {
  const { loader, fetcher, store, source, time } = setUp(['junk']);
  fetcher.offered.set('junk', [{ id: null, payload: 1 }]);
  for (let round = 0; round < 60 * 5; round += 1) {
    await loader.runOnce();
    time.pass(200);
  }
  expect(fetcher.asked.length).toBeLessThan(14);
  expect(store.quarantined(source)).toHaveLength(1);
});

test('junk that is met once more, and then no more, is no failure: another loader had read the file', async () => {
  const { another, fetcher, log, time } = setUp(['file']);
  fetcher.offered.set('file', [{ id: null, payload: 1 }]);
  const other = another();
  await other.runOnce();
  time.pass(200);
  await another().runOnce();
  fetcher.offered.set('file', []);
  time.pass(200);
  await other.runOnce();
  expect(log.kinds()).toEqual(['appended', 'appended', 'idle']);
});

test('a source that says we may not is not asked again for a minute', async () => {
  const { loader, fetcher, time, log } = setUp(['private']);
  fetcher.failing.set('private', new EventFetchError('SOURCE_FORBIDDEN', 'it answered 401'));
  for (let round = 0; round < 50; round += 1) {
    await loader.runOnce();
    time.pass(1000);
  }
  expect(fetcher.asked).toHaveLength(1);
  expect(log.opened).toEqual([]);
});

test('after an idle round it sleeps 100 ms, after a busy one not at all', async () => {
  const time = new ManualTime();
  /** As the one in Redis: its own gap is known to a loader without asking. */
  class KnowingLimiter extends MemoryRateLimiter {
    override isKnownShut = (): boolean => time.now() < (fetcher.asked.at(-1)?.at ?? 0) + 200 && fetcher.asked.length > 0;
  }
  const { loader, fetcher } = setUp(['north'], { time, gate: new KnowingLimiter(time) });
  fetcher.offered.set('north', eventsFrom(1, 1));
  const begunAt = time.now();
  const stop = {
    rounds: 0,
    get aborted() {
      return (this.rounds += 1) > 30;
    },
  };
  await loader.run(stop);
  const asked = fetcher.asked.map(({ at }) => at - begunAt);
  expect(asked.slice(0, 3)).toEqual([0, 200, 400]);
});

test('told to stop it ends the source in hand and begins no other', async () => {
  const { loader, fetcher, store, sources } = setUp(['north', 'south']);
  for (const { name } of sources) fetcher.offered.set(name, eventsFrom(1, 5));
  const stop = { aborted: false };
  fetcher.onTheWay = () => void (stop.aborted = true);
  await loader.run(stop);
  expect(store.stored(sources[0]!)).toEqual(ids(5));
  expect(fetcher.asked).toHaveLength(1);
});

test('a lock lost on the way: what was fetched is thrown away, and comes with the one who has it now', async () => {
  const { loader, another, fetcher, locks, store, source, time, log } = setUp(['north']);
  fetcher.offered.set('north', eventsFrom(1, 10));
  const second = another();
  let isFrozen = true;
  fetcher.onTheWay = async () => {
    if (!isFrozen) return;
    isFrozen = false;
    locks.lapseAll();
    time.pass(500);
    await second.runOnce();
  };
  await loader.runOnce();
  expect(log.kinds()).toEqual(['appended', 'outpaced']);
  expect(store.stored(source)).toEqual(ids(10));
});

describe('a pass of the gate is good for 250 ms', () => {
  /** The cursor takes so long to read. */
  class SlowStore extends MemoryStore {
    constructor(
      private readonly time: ManualTime,
      private readonly ms: number,
    ) {
      super();
    }
    override lastKnownId(source: Source): Promise<string | undefined> {
      this.time.pass(this.ms);
      return super.lastKnownId(source);
    }
  }
  /** The gate's answer takes so long to arrive: the pass has been running since it was asked for. */
  class SlowLimiter extends MemoryRateLimiter {
    constructor(
      private readonly clock: ManualTime,
      private readonly ms: number,
    ) {
      super(clock);
    }
    override async tryPass(source: Source) {
      const pass = await super.tryPass(source);
      this.clock.pass(this.ms);
      return pass;
    }
  }

  test.each([
    { where: 'reading the cursor', at: 250, kinds: ['appended'], asked: 1 },
    { where: 'reading the cursor', at: 251, kinds: ['late'], asked: 0 },
    { where: 'waiting for the gate', at: 250, kinds: ['appended'], asked: 1 },
    { where: 'waiting for the gate', at: 251, kinds: ['late'], asked: 0 },
  ])('$at ms $where: $kinds', async ({ where, at, kinds, asked }) => {
    const time = new ManualTime();
    const slow = where === 'reading the cursor' ? { store: new SlowStore(time, at) } : { gate: new SlowLimiter(time, at) };
    const { loader, fetcher, log } = setUp(['north'], { time, ...slow });
    fetcher.offered.set('north', eventsFrom(1, 3));
    await loader.runOnce();
    expect([log.kinds(), fetcher.asked.length]).toEqual([kinds, asked]);
  });

  test('who was frozen with a pass in hand does not come between the requests of others', async () => {
    const time = new ManualTime();
    let other: RoundRobinEventLoader<Source> | undefined;
    /** Frozen for longer than lock and pass live, while another loader has its turn. */
    class FreezingStore extends MemoryStore {
      override async lastKnownId(source: Source): Promise<string | undefined> {
        const [frozen, id] = [other, await super.lastKnownId(source)];
        other = undefined;
        if (frozen) {
          locks.lapseAll();
          time.pass(450);
          await frozen.runOnce();
          time.pass(100);
        }
        return id;
      }
    }
    const { loader, another, fetcher, locks, log } = setUp(['north'], { time, store: new FreezingStore() });
    fetcher.offered.set('north', eventsFrom(1, 3));
    other = another();
    await loader.runOnce();
    expect(log.kinds()).toEqual(['appended', 'late']);
    expect(fetcher.asked).toHaveLength(1);
  });
});

test('with an overlap low ids that come late are found, and nothing is stored twice', async () => {
  const { loader, fetcher, store, source, time } = setUp(['late'], { overlap: 5 });
  fetcher.offered.set('late', [...eventsFrom(1, 6), ...eventsFrom(8, 3)]);
  await loader.runOnce();
  fetcher.offered.set('late', eventsFrom(1, 10));
  time.pass(200);
  await loader.runOnce();
  expect(fetcher.asked[1]?.afterId).toBe('5');
  expect(store.stored(source).toSorted((a, b) => Number(a) - Number(b))).toEqual(ids(10));
});

test('a source we cannot store for is left alone, the others are loaded', async () => {
  class Choosy extends MemoryStore {
    override append(batch: Batch): Promise<Appended> {
      return batch.source.name === 'odd' ? Promise.reject(new Error('disk full')) : super.append(batch);
    }
  }
  const store = new Choosy();
  const { loader, fetcher, sources, time } = setUp(['odd', 'even'], { store });
  for (const { name } of sources) fetcher.offered.set(name, eventsFrom(1, 20_000));
  const begunAt = time.now();
  for (let round = 0; round < 25; round += 1) {
    await loader.runOnce();
    time.pass(200);
  }
  expect(store.stored(sources[1]!)).toHaveLength(20_000);
  expect(fetcher.asked.filter(({ source }) => source === 'odd').length).toBeLessThan(9);
  expect(time.now() - begunAt).toBe(5000);
});

test('with the database away it looks once a second, and goes on as soon as it is back', async () => {
  let isAway = true;
  class Away extends MemoryStore {
    override lastKnownId(source: Source): Promise<string | undefined> {
      return isAway ? Promise.reject(new Error('ECONNREFUSED')) : super.lastKnownId(source);
    }
  }
  const store = new Away();
  const { loader, fetcher, log, source, time } = setUp(['north', 'south'], { store });
  fetcher.offered.set('north', eventsFrom(1, 3));
  const endAt = time.now() + 60_000;
  await loader.run({
    get aborted() {
      return time.now() >= endAt;
    },
  });
  expect(log.turns.length).toBeLessThanOrEqual(2 * 60);
  isAway = false;
  time.pass(500);
  await loader.runOnce();
  expect(store.stored(source)).toEqual(ids(3));
});

describe('negative controls: several loaders side by side', () => {
  /** Without a memory of what it has: what a store would be with neither cursor nor unique ids to hold on to. */
  class CarelessStore extends EventStore {
    readonly events: string[] = [];
    private cursor: string | undefined;
    lastKnownId(): Promise<string | undefined> {
      return Promise.resolve(this.cursor);
    }
    append({ events, to }: Batch): Promise<Appended> {
      this.events.push(...events.map(({ id }: Event) => id));
      this.cursor = to;
      return Promise.resolve({ kind: 'appended', stored: events.length, refused: 0, quarantined: 0 });
    }
  }
  const transportedTwice = ({ fetcher }: { fetcher: MemoryFetcher }): number => {
    const asked = fetcher.asked.map(({ afterId }) => afterId);
    return asked.length - new Set(asked).size;
  };

  /** Eight of them; each answer takes as long as a gap and some, during which the others have their turns. */
  async function crowd(change: Parameters<typeof setUp>[1]) {
    const all = setUp(['north'], change);
    all.fetcher.offered.set('north', eventsFrom(1, 5000));
    let depth = 0;
    all.fetcher.onTheWay = async () => {
      if (depth >= 3) return;
      depth += 1;
      all.time.pass(500);
      await all.another().runOnce();
      depth -= 1;
    };
    for (let round = 0; round < 5; round += 1) {
      await all.loader.runOnce();
      all.time.pass(200);
    }
    return all;
  }

  test('with locks and compare-and-set nothing is transported twice, nothing stored twice', async () => {
    const all = await crowd({});
    expect(transportedTwice(all)).toBe(0);
    expect(all.store.stored(all.source)).toEqual(ids(5000));
  });

  test('locks off: transported twice, and still not stored twice', async () => {
    const all = await crowd({ locks: new MemoryLocks(false) });
    expect(transportedTwice(all)).toBeGreaterThan(0);
    const stored = all.store.stored(all.source);
    expect(new Set(stored).size).toBe(stored.length);
    expect(all.log.kinds()).toContain('outpaced');
  });

  test('locks and compare-and-set off: stored twice', async () => {
    const store = new CarelessStore();
    await crowd({ locks: new MemoryLocks(false), store });
    expect(new Set(store.events).size).toBeLessThan(store.events.length);
  });
});
