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
let gates: RedisSourceRateLimiter[];

beforeAll(async () => {
  server = await createTestRedis();
  const open = () => connectRedis(server.url, { name: 'test' });
  connections = [open(), open()];
  await Promise.all(connections.map((connection) => whenReady(connection)));
  gates = connections.map((connection) => new RedisSourceRateLimiter(connection));
});
afterAll(async () => {
  await Promise.all(connections.map(closeRedis));
  await server.close();
});

describe('Redis locks', () => {
  lockFactoryContract(() => ({
    one: new RedisLocks(connections[0]),
    other: new RedisLocks(connections[1]),
    lapse: async () => server.flush(),
  }));

  test('a holder that lives keeps it for as long as it likes', async () => {
    const source = sourceNamed('renewed');
    const lock = (await new RedisLocks(connections[0], 300).tryAcquire(source))!;
    await sleep(900);
    expect(lock.isHeld).toBe(true);
    expect(await new RedisLocks(connections[1], 300).tryAcquire(source)).toBeUndefined();
    await lock.release();
  });

  test('a holder whose lock is gone learns it at its next renewal', async () => {
    const lock = (await new RedisLocks(connections[0], 300).tryAcquire(sourceNamed('flushed')))!;
    await server.flush();
    await sleep(250);
    expect(lock.isHeld).toBe(false);
    await lock.release();
  });

  test('a Redis that lost everything numbers no lock below those before', async () => {
    const source = sourceNamed('wiped');
    const before = (await new RedisLocks(connections[0]).tryAcquire(source))!;
    await server.flush();
    const after = (await new RedisLocks(connections[0]).tryAcquire(source))!;
    expect(after.fence).toBeGreaterThan(before.fence);
    await Promise.all([before.release(), after.release()]);
  });
});

describe('Redis gate', () => {
  sourceRateLimiterContract(() => ({
    one: gates[0]!,
    other: gates[1]!,
    gapMs: 200,
    sleep: async (ms) => void (await sleep(ms)),
  }));

  test('a Redis that comes back without its memory lets nobody pass before older passes are over', async () => {
    const connection = connectRedis(server.url, { name: 'test' });
    await whenReady(connection);
    const gate = new RedisSourceRateLimiter(connection);
    const source = sourceNamed('forgotten');
    expect(await gate.tryPass(source)).toBeDefined();
    connection.disconnect(true);
    await server.flush();
    await new Promise((resolve) => connection.once('ready', resolve));
    expect(await gate.tryPass(source)).toBeUndefined();
    await sleep(460);
    expect(await gate.tryPass(source)).toBeDefined();
    await closeRedis(connection);
  });
});
