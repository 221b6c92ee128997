import { HeldBack } from '../jobs/job-outcomes.ts';
import { connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { setTimeout as pause } from 'node:timers/promises';
import { mostInOneSecond } from '#testing/sliding-second';
import { SharedProviderLimiter, type ProviderLimiter, type ProviderLimiterOptions } from './provider-limiter.ts';

let testRedis: TestRedis;
let redis: RedisConnection;
let told: string[];

beforeAll(async () => {
  testRedis = await createTestRedis();
  redis = connectRedis(testRedis.url, { name: 'gate-test' });
  await whenReady(redis);
});
beforeEach(async () => {
  told = [];
  await testRedis.flush();
});
afterAll(async () => {
  redis.disconnect();
  await testRedis.close();
});

const gate = (changes: Partial<ProviderLimiterOptions> = {}): SharedProviderLimiter =>
  new SharedProviderLimiter(redis, {
    provider: 'test',
    callsPerSecond: 50,
    onBreaker: (_provider, state) => told.push(state),
    tryEveryMs: 200,
    ...changes,
  });

/** Sends one after the other through each of some hands; the network takes its time on the way there and back. */
async function sends(hands: readonly ProviderLimiter[], count: number): Promise<number[]> {
  const arrivals: number[] = [];
  let left = count;
  await Promise.all(
    hands.map(async (hand) => {
      while (left-- > 0) {
        const pass = await hand.enter(1, 'urgent');
        await pause(Math.random() * 120);
        arrivals.push(performance.now());
        await pause(Math.random() * 20);
        await pass.leave({ answered: 1 });
      }
    }),
  );
  return arrivals;
}

/** BullMQ's way: count in a window that begins with its first call. */
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

const twenty = (make: () => ProviderLimiter): ProviderLimiter[] => Array.from({ length: 40 }, make);

test('control: a fixed window lets through far more than the limit in a sliding second', async () => {
  const options = { provider: 'test', callsPerSecond: 50, onBreaker: () => undefined };
  await redis.set('fixed', 1, 'PX', 1000);
  // The window is nearly over when the burst comes, and the next one is as big.
  await pause(850);
  expect(
    mostInOneSecond(
      await sends(
        twenty(() => new FixedWindow(redis, options)),
        99,
      ),
    ),
  ).toBeGreaterThan(60);
});

test('two workers together never send more than the limit in any second, however long the way is', async () => {
  const [first, second] = [gate(), gate()];
  const hands = [...twenty(() => first), ...twenty(() => second)];
  const arrivals = await sends(hands, 160);
  expect(arrivals).toHaveLength(160);
  const most = mostInOneSecond(arrivals);
  expect(most).toBeLessThanOrEqual(50);
  expect(most).toBeGreaterThan(30);
});

test('bulk leaves a tenth of the calls to urgent pushes', async () => {
  const all = gate();
  const bulk = await all.enter(500, 'bulk');
  expect(bulk.calls).toBe(45);
  const urgent = await all.enter(500, 'urgent');
  expect(urgent.calls).toBe(5);
});

describe('the breaker', () => {
  const fail = async (door: ProviderLimiter, times: number): Promise<boolean> => {
    let isDown = false;
    for (let call = 0; call < times; call += 1) isDown = await (await door.enter(1, 'bulk')).leave({ failed: 1 });
    return isDown;
  };

  test('opens after 20 failures in a row, tells it once, and lets one try through at a time', async () => {
    const door = gate({ callsPerSecond: 1000 });
    expect(await fail(door, 19)).toBe(false);
    expect(told).toEqual([]);
    expect(await fail(door, 1)).toBe(true);
    expect(told).toEqual(['opened']);
    await expect(door.enter(1, 'urgent')).rejects.toThrow(HeldBack);
    await pause(220);
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => gate().enter(5, 'bulk')));
    const passes = tries.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(passes.map(({ calls }) => calls)).toEqual([1]);
    expect(await passes[0]?.leave({ failed: 1 })).toBe(true);
    await pause(220);
    expect(await (await door.enter(1, 'bulk')).leave({ answered: 1 })).toBe(false);
    expect(told).toEqual(['opened', 'closed']);
    expect((await door.enter(30, 'bulk')).calls).toBe(30);
  });

  test('a success in between starts the count anew; a 429 neither counts nor forgives', async () => {
    const door = gate({ callsPerSecond: 1000 });
    await fail(door, 19);
    await (await door.enter(1, 'bulk')).leave({ answered: 1 });
    await fail(door, 19);
    await (await door.enter(1, 'bulk')).leave({ tooFast: { calls: 1, forMs: 50 } });
    expect(told).toEqual([]);
    await pause(60);
    await fail(door, 1);
    expect(told).toEqual(['opened']);
  });
});

test('a 429 makes all workers pause as long as it says, and then go slower for a while', async () => {
  const [first, second] = [gate({ callsPerSecond: 1000 }), gate({ callsPerSecond: 1000 })];
  await (await first.enter(1, 'urgent')).leave({ tooFast: { calls: 1, forMs: 300 } });
  const held = await second.enter(1, 'urgent').catch((error: unknown) => error);
  expect(held).toBeInstanceOf(HeldBack);
  expect((held as HeldBack).forMs).toBeGreaterThan(200);
  await pause(310);
  const slower = await second.enter(1000, 'urgent');
  expect(slower.calls).toBeGreaterThan(450);
  expect(slower.calls).toBeLessThan(600);
});

test('calls that were never made are given back', async () => {
  const door = gate();
  await (await door.enter(50, 'urgent')).leave({ answered: 10 });
  expect((await door.enter(50, 'urgent')).calls).toBe(40);
});

test('without Redis nothing is sent and nothing is lost: the queue rests', async () => {
  const nowhere = connectRedis('redis://127.0.0.1:1', { name: 'nowhere' });
  const closed = new SharedProviderLimiter(nowhere, { provider: 'test', callsPerSecond: 50, onBreaker: () => undefined });
  await expect(closed.enter(1, 'urgent')).rejects.toMatchObject({ scope: 'queue' });
  nowhere.disconnect();
});
