import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { closeRedis, connectRedis, type RedisConnection, whenReady } from '#platform/redis/redis-connection';
import { randomUUID } from 'node:crypto';
import { openMonolith, type WholeMonolith } from '../../apps/monolith/src/testing/whole-monolith.ts';

/*
 * The attack: one fan fills Redis by changing the profile again and again, each time with a new idempotency key. Redis keeps each key
 * with its answer for 48 h. Without a limit one connection stores 2 to 3 GB in that time.
 */

const PER_MINUTE = 30;
const me = '/api/v1/me';

let database: TestDatabase;
let redis: TestRedis;
let connection: RedisConnection;
let monolith: WholeMonolith;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  connection = connectRedis(redis.url, { name: 'abuse' });
  await whenReady(connection);
  monolith = await openMonolith({
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    RATE_LIMIT_WRITES_PER_MINUTE: String(PER_MINUTE),
  });
});
beforeEach(() => redis.flush());
afterAll(async () => {
  await monolith.close();
  await closeRedis(connection);
  await Promise.all([database.close(), redis.close()]);
});

const profile = { email: `${'a'.repeat(60)}@example.com`, name: 'Ana Horvat', locale: 'hr' };
const change = (as: string) => monolith.call('PUT', me, { as, body: profile });
const storedKeys = async () => (await connection.keys('idempotency:*')).filter((key) => !key.startsWith('idempotency:lock:'));

test('a fan who changes the profile with 200 new keys: Redis keeps the keys of one minute only', async () => {
  const as = randomUUID();
  const answers = [];
  for (let sent = 0; sent < 200; sent += 1) answers.push(await change(as));
  expect((await storedKeys()).length).toBeLessThanOrEqual(PER_MINUTE);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(PER_MINUTE);
  const refused = answers.at(-1)!;
  expect([refused.status, refused.json.code]).toEqual([429, 'RATE_LIMITED']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
});

test('200 changes of the profile at the same time: Redis keeps the keys of one minute only', async () => {
  const as = randomUUID();
  await Promise.all(Array.from({ length: 200 }, () => change(as)));
  expect((await storedKeys()).length).toBeLessThanOrEqual(PER_MINUTE);
});

test('all other writes of a fan share the limit, and other fans are not affected', async () => {
  const as = randomUUID();
  const writes = [
    () => change(as),
    () => monolith.call('PUT', `${me}/devices/phone`, { as, body: { fcm_token: 'token' } }),
    () => monolith.call('DELETE', `${me}/devices/phone`, { as }),
    () => monolith.call('POST', '/api/v1/invitations/claim', { as, body: { token: `inv_${'a'.repeat(22)}` } }),
  ];
  const statuses = [];
  for (let sent = 0; sent < PER_MINUTE; sent += 1) statuses.push((await writes[sent % 4]!()).status);
  expect(new Set(statuses)).toEqual(new Set([200, 204, 404]));
  for (const write of writes) expect((await write()).status).toBe(429);
  expect((await change(randomUUID())).status).toBe(200);
});

test('the answer to a changed profile is stored in few bytes', async () => {
  await change(randomUUID());
  const [key] = await storedKeys();
  expect(await connection.object('ENCODING', key!)).toBe('listpack');
  expect(await connection.call('MEMORY', 'USAGE', key!)).toBeLessThan(450);
});
