import { createTestRedis, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { ANSWER_TTL_SECONDS, keySteps, type KeySteps } from './key-steps.ts';

let testRedis: TestRedis;
let redis: RedisConnection;

beforeAll(async () => {
  testRedis = await createTestRedis();
  redis = connectRedis(testRedis.url, { name: 'key-steps-test', commandTimeoutMs: 500 });
  await whenReady(redis);
});

afterAll(async () => {
  await closeRedis(redis);
  await testRedis.close();
});

const LOCK_MS = 5000;
const fail = (error: unknown): void => {
  throw error;
};
const answer = { fingerprint: 'f', response: '{"status":201}', isRefusal: false };

/** A connection that says of itself to be one to a cluster is treated as one, whatever stands behind it. */
const kinds: [string, () => KeySteps][] = [
  ['on one server', () => keySteps(redis, LOCK_MS)],
  ['in a cluster', () => keySteps(Object.create(redis, { isCluster: { value: true } }) as RedisConnection, LOCK_MS)],
];

describe.each(kinds)('%s', (_name, made) => {
  let steps: KeySteps;
  let key: string;
  const lock = (): Promise<string | null> => redis.get(`idempotency:lock:${key}`);
  const fields = (): Promise<Record<string, string>> => redis.hgetall(`idempotency:${key}`);

  beforeEach(() => {
    steps = made();
    key = randomUUID().replaceAll('-', '');
  });

  test('the first one has the key, with a lock that ends by itself; the second hears that somebody is at work', async () => {
    expect(await steps.claim(key, 'one', 'f')).toBe(1);
    expect(await steps.claim(key, 'two', 'f')).toBe(0);
    expect([await lock(), await fields()]).toEqual(['one', { status: 'processing', fingerprint: 'f' }]);
    expect(await redis.pttl(`idempotency:lock:${key}`)).toBeGreaterThan(LOCK_MS - 1000);
    expect(await redis.ttl(`idempotency:${key}`)).toBeGreaterThan(ANSWER_TTL_SECONDS - 10);
  });

  test('a finished key is told to whoever asks, and its lock is gone', async () => {
    await steps.claim(key, 'one', 'f');
    await steps.complete(key, 'one', answer, fail);
    expect(await steps.claim(key, 'two', 'f')).toEqual(['completed', 'f', answer.response]);
    expect(await lock()).toBeNull();
  });

  test('another request under the same key is told whose it is, also while it runs', async () => {
    await steps.claim(key, 'one', 'f');
    expect(await steps.claim(key, 'two', 'g')).toEqual(['processing', 'f', null]);
    expect(await lock()).toBe('one');
  });

  test('a hash that was lost on the way is made anew, and ends', async () => {
    await steps.claim(key, 'one', 'f');
    await testRedis.flush();
    await steps.complete(key, 'one', answer, fail);
    expect(await fields()).toEqual({ status: 'completed', fingerprint: 'f', response: answer.response });
    expect(await redis.ttl(`idempotency:${key}`)).toBeGreaterThan(ANSWER_TTL_SECONDS - 10);
  });

  test('who lost the lock takes it from nobody, and a refusal replaces no answer', async () => {
    await steps.claim(key, 'late', 'f');
    await steps.release(key, 'late');
    await steps.claim(key, 'next', 'f');
    await steps.forget(key, 'late', fail);
    expect(await lock()).toBe('next');
    await steps.complete(key, 'next', answer, fail);
    await steps.complete(key, 'late', { ...answer, response: '{"status":409}', isRefusal: true }, fail);
    await steps.forget(key, 'late', fail);
    expect((await fields()).response).toBe(answer.response);
  });

  test('a forgotten key is as if it had never been used', async () => {
    await steps.claim(key, 'one', 'f');
    await steps.forget(key, 'one', fail);
    expect([await lock(), await fields()]).toEqual([null, {}]);
    expect(await steps.claim(key, 'two', 'g')).toBe(1);
  });

  test('only the owner renews', async () => {
    await steps.claim(key, 'one', 'f');
    await redis.pexpire(`idempotency:lock:${key}`, 1000);
    await steps.renew(key, 'two');
    expect(await redis.pttl(`idempotency:lock:${key}`)).toBeLessThanOrEqual(1000);
    await steps.renew(key, 'one');
    expect(await redis.pttl(`idempotency:lock:${key}`)).toBeGreaterThan(LOCK_MS - 1000);
  });
});
