import { createTestRedis, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { ANSWER_TTL_SECONDS, keyScripts, type KeyScripts } from './key-scripts.ts';

let testRedis: TestRedis;
let redis: RedisConnection;

beforeAll(async () => {
  testRedis = await createTestRedis();
  redis = connectRedis(testRedis.url, { name: 'key-scripts-test', commandTimeoutMs: 500 });
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

/** Only the flag `isCluster` selects the scripts for a cluster, so a connection to a single server with this flag tests them. */
const variants: [string, () => KeyScripts][] = [
  ['on one server', () => keyScripts(redis, LOCK_MS)],
  ['in a cluster', () => keyScripts(Object.create(redis, { isCluster: { value: true } }) as RedisConnection, LOCK_MS)],
];

describe.each(variants)('idempotency keys in Redis, %s', (_name, create) => {
  let scripts: KeyScripts;
  let key: string;
  const lock = (): Promise<string | null> => redis.get(`idempotency:lock:${key}`);
  const fields = (): Promise<Record<string, string>> => redis.hgetall(`idempotency:${key}`);

  beforeEach(() => {
    scripts = create();
    key = randomUUID().replaceAll('-', '');
  });

  test('claim: the first request gets the key and a lock that expires; the second request learns that the key is in use', async () => {
    expect(await scripts.claim(key, 'one', 'f')).toBe(1);
    expect(await scripts.claim(key, 'two', 'f')).toBe(0);
    expect([await lock(), await fields()]).toEqual(['one', { status: 'processing', fingerprint: 'f' }]);
    expect(await redis.pttl(`idempotency:lock:${key}`)).toBeGreaterThan(LOCK_MS - 1000);
    expect(await redis.ttl(`idempotency:${key}`)).toBeGreaterThan(ANSWER_TTL_SECONDS - 10);
  });

  test('claim: a claim of a finished key gets its stored response, and no lock of the key remains', async () => {
    await scripts.claim(key, 'one', 'f');
    await scripts.complete(key, 'one', answer, fail);
    expect(await scripts.claim(key, 'two', 'f')).toEqual(['completed', 'f', answer.response]);
    expect(await lock()).toBeNull();
  });

  test('claim: a request with another fingerprint gets the stored fields of the first request, even while the first request is running', async () => {
    await scripts.claim(key, 'one', 'f');
    expect(await scripts.claim(key, 'two', 'g')).toEqual(['processing', 'f', null]);
    expect(await lock()).toBe('one');
  });

  test('complete: if Redis lost the hash of the key, the hash is created again and expires', async () => {
    await scripts.claim(key, 'one', 'f');
    await testRedis.flush();
    await scripts.complete(key, 'one', answer, fail);
    expect(await fields()).toEqual({ status: 'completed', fingerprint: 'f', response: answer.response });
    expect(await redis.ttl(`idempotency:${key}`)).toBeGreaterThan(ANSWER_TTL_SECONDS - 10);
  });

  test('complete and forget: an owner that lost the lock does not release the lock of the next owner, and its refusal replaces no stored answer', async () => {
    await scripts.claim(key, 'late', 'f');
    await scripts.release(key, 'late');
    await scripts.claim(key, 'next', 'f');
    await scripts.forget(key, 'late', fail);
    expect(await lock()).toBe('next');
    await scripts.complete(key, 'next', answer, fail);
    await scripts.complete(key, 'late', { ...answer, response: '{"status":409}', isRefusal: true }, fail);
    await scripts.forget(key, 'late', fail);
    expect((await fields()).response).toBe(answer.response);
  });

  test('forget: the key and its lock are deleted, and a request with another fingerprint may claim the key', async () => {
    await scripts.claim(key, 'one', 'f');
    await scripts.forget(key, 'one', fail);
    expect([await lock(), await fields()]).toEqual([null, {}]);
    expect(await scripts.claim(key, 'two', 'g')).toBe(1);
  });

  test('renew: only the owner extends the lock', async () => {
    await scripts.claim(key, 'one', 'f');
    await redis.pexpire(`idempotency:lock:${key}`, 1000);
    await scripts.renew(key, 'two');
    expect(await redis.pttl(`idempotency:lock:${key}`)).toBeLessThanOrEqual(1000);
    await scripts.renew(key, 'one');
    expect(await redis.pttl(`idempotency:lock:${key}`)).toBeGreaterThan(LOCK_MS - 1000);
  });
});
