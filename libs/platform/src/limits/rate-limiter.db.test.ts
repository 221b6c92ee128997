import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { RateLimiter } from './rate-limiter.ts';

let testRedis: TestRedis;
let connections: RedisConnection[];

beforeAll(async () => {
  testRedis = await createTestRedis();
  connections = await Promise.all([1, 2, 3].map(() => connected(testRedis.url)));
});

beforeEach(async () => testRedis.flush());

afterAll(async () => {
  await Promise.all(connections.map(closeRedis));
  await testRedis.close();
});

async function connected(url: string): Promise<RedisConnection> {
  const connection = connectRedis(url, { name: 'limits-test', commandTimeoutMs: 200 });
  await whenReady(connection);
  return connection;
}

/** The beginning of a minute. The clock of the tests starts here and stands still unless a test moves it. */
const MINUTE_START = 1_800_000 * 60_000;
const limiterOn = (connection: RedisConnection | undefined, limit: number, now: () => number = () => MINUTE_START): RateLimiter =>
  new RateLimiter(connection ?? connections[0]!, 'rate_limit:user', limit, { now });

test('RateLimiter: three replicas together accept exactly the limit of 10 out of 60 simultaneous requests', async () => {
  const replicas = connections.map((connection) => limiterOn(connection, 10));
  const results = await Promise.all(Array.from({ length: 60 }, (_, index) => replicas[index % 3]!.take('fan')));
  expect(results.filter(({ allowed }) => allowed)).toHaveLength(10);
  expect(
    results
      .filter(({ allowed }) => allowed)
      .map(({ remaining }) => remaining)
      .sort(),
  ).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('RateLimiter: a limit of 10 never accepts more than 10 requests in any 60 seconds, even across a full minute of the clock', async () => {
  let now = MINUTE_START + 58_000;
  const limiter = limiterOn(undefined, 10, () => now);
  const accepted: number[] = [];
  for (; now < MINUTE_START + 240_000; now += 500) if ((await limiter.take('fan')).allowed) accepted.push(now);
  const maxPerMinute = Math.max(
    ...accepted.map((from) => accepted.filter((time) => time >= from && time < from + 60_000).length),
  );
  expect([maxPerMinute, accepted.length]).toEqual([10, 34]);
});

test('RateLimiter: a refusal says when the next request is allowed, even if all counted requests came before the full minute', async () => {
  let now = MINUTE_START + 50_000;
  const limiter = limiterOn(undefined, 2, () => now);
  await limiter.take('fan');
  await limiter.take('fan');
  now = MINUTE_START + 70_000;
  expect(await limiter.take('fan')).toMatchObject({ allowed: false, limit: 2, remaining: 0, resetSeconds: 40 });
  now += 40_000;
  expect(await limiter.take('fan')).toMatchObject({ allowed: true, remaining: 1 });
});

test('RateLimiter: refused requests do not count, and a request no longer counts after `giveBack`', async () => {
  const limiter = limiterOn(undefined, 2);
  const [first] = [await limiter.take('fan'), await limiter.take('fan')];
  for (let refused = 0; refused < 5; refused += 1) expect((await limiter.take('fan')).allowed).toBe(false);
  await first.giveBack();
  expect([(await limiter.take('fan')).allowed, (await limiter.take('fan')).allowed]).toEqual([true, false]);
});

test('RateLimiter: each fan has a separate limit, under a Redis key that contains the fan and the minute and expires', async () => {
  const limiter = limiterOn(undefined, 1);
  expect([(await limiter.take('ana')).allowed, (await limiter.take('iva')).allowed]).toEqual([true, true]);
  const key = `rate_limit:user:ana:${MINUTE_START / 60_000}`;
  expect(await connections[0]!.exists(key)).toBe(1);
  expect(await connections[0]!.pttl(key)).toBeGreaterThan(60_000);
});

test('RateLimiter: services that share a Redis use the key of the contract, and each counts its own requests only', async () => {
  let now = MINUTE_START + 59_000;
  const services = ['monolith', 'queue-service', 'notification-worker'] as const;
  const limiters = services.map(
    (service) => new RateLimiter(connections[0]!, 'rate_limit:global', 2, { service, now: () => now }),
  );
  const takeFromAll = () => Promise.all(limiters.map((limiter) => limiter.take('203.0.113.7')));
  expect((await takeFromAll()).map(({ remaining }) => remaining)).toEqual([1, 1, 1]);
  now += 2000;
  expect((await takeFromAll()).map(({ allowed, remaining }) => [allowed, remaining])).toEqual(Array(3).fill([true, 0]));
  now += 20_000;
  const refused = { allowed: false, limit: 2, remaining: 0, resetSeconds: 38 };
  expect(await takeFromAll()).toMatchObject([refused, refused, refused]);
  const minutes = [MINUTE_START / 60_000, MINUTE_START / 60_000 + 1];
  expect((await connections[0]!.keys('*')).sort()).toEqual(minutes.map((minute) => `rate_limit:global:203.0.113.7:${minute}`));
});

test('RateLimiter: without Redis each process allows a fifth of the limit, at least one request', async () => {
  const unreachable = connectRedis('redis://127.0.0.1:1', { name: 'unreachable' });
  const limiter = limiterOn(unreachable, 10);
  const results = await Promise.all(Array.from({ length: 30 }, () => limiter.take('fan')));
  expect(results.filter(({ allowed }) => allowed)).toHaveLength(2);
  expect(results[0]).toMatchObject({ limit: 2, remaining: 1 });
  expect((await limiterOn(unreachable, 1).take('fan')).allowed).toBe(true);
  unreachable.disconnect();
});

test('RateLimiter: when Redis stops answering, only the first request waits for a timeout, and Redis is used again after it is back', async () => {
  const proxy = await TcpProxy.inFrontOf(testRedis.url);
  const connection = await connected(proxy.url);
  let now = MINUTE_START;
  const limiter = limiterOn(connection, 10, () => now);
  await limiter.take('fan');
  proxy.silence();
  const started = Date.now();
  for (let request = 0; request < 8; request += 1) await limiter.take('fan');
  expect(Date.now() - started).toBeLessThan(600);
  const lost = new Promise((resolve) => connection.once('close', resolve));
  proxy.refuse();
  proxy.restore();
  await lost;
  await whenReady(connection);
  now += 1001;
  expect(await limiter.take('fan')).toMatchObject({ limit: 10, remaining: 8 });
  await closeRedis(connection);
  await proxy.close();
});
