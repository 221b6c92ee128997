import { HeldBack } from '../jobs/job-outcomes.ts';
import { connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { setTimeout as pause } from 'node:timers/promises';
import { maxInOneSecond } from '#testing/sliding-second';
import { SharedProviderLimiter, type ProviderLimiter, type ProviderLimiterOptions } from './provider-limiter.ts';

let testRedis: TestRedis;
let redis: RedisConnection;
let breakerChanges: string[];

beforeAll(async () => {
  testRedis = await createTestRedis();
  redis = connectRedis(testRedis.url, { name: 'limiter-test' });
  await whenReady(redis);
});
beforeEach(async () => {
  breakerChanges = [];
  await testRedis.flush();
});
afterAll(async () => {
  redis.disconnect();
  await testRedis.close();
});

const openLimiter = (changes: Partial<ProviderLimiterOptions> = {}): SharedProviderLimiter =>
  new SharedProviderLimiter(redis, {
    provider: 'test',
    callsPerSecond: 50,
    onBreaker: (_provider, state) => breakerChanges.push(state),
    probeIntervalMs: 200,
    ...changes,
  });

/**
 * Simulates `count` calls of a provider by parallel senders, one for each limiter of the list, with random network delays.
 * Returns the times at which the calls reach the provider.
 */
async function simulateCalls(limiters: readonly ProviderLimiter[], count: number): Promise<number[]> {
  const arrivals: number[] = [];
  let remaining = count;
  await Promise.all(
    limiters.map(async (limiter) => {
      while (remaining-- > 0) {
        const permit = await limiter.enter(1, 'urgent');
        await pause(Math.random() * 120);
        arrivals.push(performance.now());
        await pause(Math.random() * 20);
        await permit.leave({ answered: 1 });
      }
    }),
  );
  return arrivals;
}

/** A limiter like BullMQ's: it counts calls by fixed seconds, of which the first starts with the first call. */
class FixedWindow extends SharedProviderLimiter {
  override async enter(): Promise<{ calls: number; leave: () => Promise<boolean> }> {
    for (;;) {
      const count = await redis.incr('fixed');
      if (count === 1) await redis.pexpire('fixed', 1000);
      if (count <= 50) return { calls: 1, leave: () => Promise.resolve(false) };
      await pause(10);
    }
  }
}

const fortyOf = (make: () => ProviderLimiter): ProviderLimiter[] => Array.from({ length: 40 }, make);

test('negative control: with a limit of 50, a limiter that counts by fixed seconds allows more than 60 calls within one second', async () => {
  const options = { provider: 'test', callsPerSecond: 50, onBreaker: () => undefined };
  await redis.set('fixed', 1, 'PX', 1000);
  // The calls start near the end of the first fixed second, so most of them fall into two of these seconds.
  await pause(850);
  expect(
    maxInOneSecond(
      await simulateCalls(
        fortyOf(() => new FixedWindow(redis, options)),
        99,
      ),
    ),
  ).toBeGreaterThan(60);
});

test('two workers together never exceed the limit in any period of one second, even with random network delays', async () => {
  const [first, second] = [openLimiter(), openLimiter()];
  const arrivals = await simulateCalls([...fortyOf(() => first), ...fortyOf(() => second)], 160);
  expect(arrivals).toHaveLength(160);
  const most = maxInOneSecond(arrivals);
  expect(most).toBeLessThanOrEqual(50);
  expect(most).toBeGreaterThan(30);
});

test('bulk sends may use 90 % of the calls; 10 % are reserved for urgent sends', async () => {
  const limiter = openLimiter();
  const bulk = await limiter.enter(500, 'bulk');
  expect(bulk.calls).toBe(45);
  const urgent = await limiter.enter(500, 'urgent');
  expect(urgent.calls).toBe(5);
});

describe('callers that wait at the same time', () => {
  const scriptRuns = async (): Promise<number> =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);

  test('ask Redis together and report their answers together', async () => {
    const limiter = openLimiter();
    await (await limiter.enter(1, 'urgent')).leave({ answered: 1 });
    const before = await scriptRuns();
    const permits = await Promise.all(Array.from({ length: 40 }, () => limiter.enter(1, 'urgent')));
    await Promise.all(permits.map((permit) => permit.leave({ answered: 1 })));
    expect((await scriptRuns()) - before).toBe(2);
  });

  test('get their calls in their order, each at least one; only calls that were not made are free before a second has passed, then all', async () => {
    const limiter = openLimiter({ callsPerSecond: 12 });
    const [first, second, third] = await Promise.all([5, 4, 10].map((wanted) => limiter.enter(wanted, 'urgent')));
    expect([first, second, third].map((permit) => permit?.calls)).toEqual([5, 4, 3]);
    await Promise.all([first?.leave({ answered: 5 }), second?.leave({ answered: 1 }), third?.leave({ failed: 3 })]);
    const given = await limiter.enter(12, 'urgent');
    expect(given.calls).toBe(3);
    await given.leave({});
    await pause(1010);
    expect((await limiter.enter(12, 'urgent')).calls).toBe(12);
  });

  test('are all held back when the provider is down', async () => {
    const limiter = openLimiter({ failuresToOpen: 1 });
    await (await limiter.enter(1, 'urgent')).leave({ failed: 1 });
    const answers = await Promise.allSettled([1, 2, 3].map((wanted) => limiter.enter(wanted, 'urgent')));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});

describe('a limiter with a limit of 50', () => {
  const options = { callsPerSecond: 50 };
  /** Lets fifty callers wait. Returns the most calls that started within 50 ms, and how long it took until all had started. */
  async function startsOf(limiter: ProviderLimiter): Promise<{ most: number; tookMs: number }> {
    const startedAt = performance.now();
    const callers = Array.from({ length: 50 }, () => limiter.enter(1, 'urgent').then(() => performance.now()));
    const starts = await Promise.all(callers);
    return { most: maxInOneSecond(starts.map((at) => at * 20)), tookMs: performance.now() - startedAt };
  }

  test('that is even spreads them over the second: at most a tenth of them starts within 50 ms', async () => {
    const { most, tookMs } = await startsOf(openLimiter({ ...options, isEven: true }));
    expect(most).toBeLessThanOrEqual(5);
    expect(tookMs).toBeGreaterThan(750);
  });

  test('that is not even starts all of them at once', async () => {
    expect((await startsOf(openLimiter(options))).most).toBe(50);
  });
});

describe('the breaker of a provider', () => {
  const fail = async (limiter: ProviderLimiter, times: number): Promise<boolean> => {
    let isDown = false;
    for (let call = 0; call < times; call += 1) isDown = await (await limiter.enter(1, 'bulk')).leave({ failed: 1 });
    return isDown;
  };

  test('opens after 20 consecutive failures, reports that once, and then allows one probe call at a time until a probe succeeds', async () => {
    const limiter = openLimiter({ callsPerSecond: 1000 });
    expect(await fail(limiter, 19)).toBe(false);
    expect(breakerChanges).toEqual([]);
    expect(await fail(limiter, 1)).toBe(true);
    expect(breakerChanges).toEqual(['opened']);
    await expect(limiter.enter(1, 'urgent')).rejects.toThrow(HeldBack);
    await pause(220);
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => openLimiter().enter(5, 'bulk')));
    const passes = tries.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(passes.map(({ calls }) => calls)).toEqual([1]);
    expect(await passes[0]?.leave({ failed: 1 })).toBe(true);
    await pause(220);
    expect(await (await limiter.enter(1, 'bulk')).leave({ answered: 1 })).toBe(false);
    expect(breakerChanges).toEqual(['opened', 'closed']);
    expect((await limiter.enter(30, 'bulk')).calls).toBe(30);
  });

  test('counts only consecutive failures: a success sets the count to 0, an answer 429 does not change it', async () => {
    const limiter = openLimiter({ callsPerSecond: 1000 });
    await fail(limiter, 19);
    await (await limiter.enter(1, 'bulk')).leave({ answered: 1 });
    await fail(limiter, 19);
    await (await limiter.enter(1, 'bulk')).leave({ rateLimited: { calls: 1, forMs: 50 } });
    expect(breakerChanges).toEqual([]);
    await pause(60);
    await fail(limiter, 1);
    expect(breakerChanges).toEqual(['opened']);
  });
});

test('after an answer 429 all workers pause for the time that it asks for, and then use only half of the limit for a while', async () => {
  const [first, second] = [openLimiter({ callsPerSecond: 1000 }), openLimiter({ callsPerSecond: 1000 })];
  await (await first.enter(1, 'urgent')).leave({ rateLimited: { calls: 1, forMs: 300 } });
  const held = await second.enter(1, 'urgent').catch((error: unknown) => error);
  expect(held).toBeInstanceOf(HeldBack);
  expect((held as HeldBack).forMs).toBeGreaterThan(200);
  await pause(310);
  const slower = await second.enter(1000, 'urgent');
  expect(slower.calls).toBeGreaterThan(450);
  expect(slower.calls).toBeLessThan(600);
});

test('calls that were allowed but not made do not count towards the limit', async () => {
  const limiter = openLimiter();
  await (await limiter.enter(50, 'urgent')).leave({ answered: 10 });
  expect((await limiter.enter(50, 'urgent')).calls).toBe(40);
});

test('when Redis, which stores the counts, is unavailable, no call is allowed and the whole queue is held back', async () => {
  const nowhere = connectRedis('redis://127.0.0.1:1', { name: 'nowhere' });
  const limiter = new SharedProviderLimiter(nowhere, { provider: 'test', callsPerSecond: 50, onBreaker: () => undefined });
  await expect(limiter.enter(1, 'urgent')).rejects.toMatchObject({ scope: 'queue' });
  nowhere.disconnect();
});
