import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFactoryContract } from '../testing/lock-factory.contract.ts';
import { sourceRateLimiterContract } from '../testing/source-rate-limiter.contract.ts';
import { sourceNamed } from '../testing/sources.ts';
import { RedisLocks } from './redis-locks.ts';
import { RedisSourceRateLimiter } from './redis-source-rate-limiter.ts';

let server: TestRedis;
let connections: [RedisConnection, RedisConnection];
let limiters: RedisSourceRateLimiter[];

beforeAll(async () => {
  server = await createTestRedis();
  const open = () => connectRedis(server.url, { name: 'test' });
  connections = [open(), open()];
  await Promise.all(connections.map((connection) => whenReady(connection)));
  limiters = connections.map((connection) => new RedisSourceRateLimiter(connection));
});
afterAll(async () => {
  await Promise.all(connections.map(closeRedis));
  await server.close();
});

describe('Redis locks', () => {
  lockFactoryContract(() => ({
    first: new RedisLocks(connections[0]),
    second: new RedisLocks(connections[1]),
    expire: async () => server.flush(),
  }));

  test('a lock does not expire while its holder lives, because the holder renews it', async () => {
    const source = sourceNamed('renewed');
    const lock = (await new RedisLocks(connections[0], 300).tryAcquire(source))!;
    await sleep(900);
    expect(lock.isHeld).toBe(true);
    expect(await new RedisLocks(connections[1], 300).tryAcquire(source)).toBeUndefined();
    await lock.release();
  });

  test('after a lock was lost in Redis, its holder notices the loss at the next renewal', async () => {
    const lock = (await new RedisLocks(connections[0], 300).tryAcquire(sourceNamed('flushed')))!;
    await server.flush();
    await sleep(250);
    expect(lock.isHeld).toBe(false);
    await lock.release();
  });

  test('after Redis lost all data, lock numbers are still greater than before', async () => {
    const source = sourceNamed('wiped');
    const before = (await new RedisLocks(connections[0]).tryAcquire(source))!;
    await server.flush();
    const after = (await new RedisLocks(connections[0]).tryAcquire(source))!;
    expect(after.lockNumber).toBeGreaterThan(before.lockNumber);
    await Promise.all([before.release(), after.release()]);
  });
});

describe('Redis rate limiter', () => {
  sourceRateLimiterContract(() => ({
    first: limiters[0]!,
    second: limiters[1]!,
    gapMs: 200,
    sleep: async (ms) => void (await sleep(ms)),
    now: () => performance.now(),
  }));

  test('after a restart of Redis without its data, no permit is given until the permits from before have expired', async () => {
    const connection = connectRedis(server.url, { name: 'test' });
    await whenReady(connection);
    const limiter = new RedisSourceRateLimiter(connection);
    const source = sourceNamed('forgotten');
    expect(await limiter.tryAcquire(source)).toBeDefined();
    connection.disconnect(true);
    await server.flush();
    await new Promise((resolve) => connection.once('ready', resolve));
    expect(await limiter.tryAcquire(source)).toBeUndefined();
    await sleep(460);
    expect(await limiter.tryAcquire(source)).toBeDefined();
    await closeRedis(connection);
  });
});
