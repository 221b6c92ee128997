import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from './redis-connection.ts';
import { RedisScript } from './script.ts';

let testRedis: TestRedis;
let proxy: TcpProxy;
let redis: RedisConnection;

beforeAll(async () => (testRedis = await createTestRedis()));
afterAll(() => testRedis.close());

beforeEach(async () => {
  await testRedis.flush();
  proxy = await TcpProxy.inFrontOf(testRedis.url);
  redis = connectRedis(proxy.url, { name: 'connection-test', commandTimeoutMs: 200 });
  await whenReady(redis);
});

afterEach(async () => {
  await closeRedis(redis);
  await proxy.close();
});

const count = new RedisScript(`return redis.call('INCR', KEYS[1])`);

test.each<[string, () => Promise<unknown>, string]>([
  ['a command', () => redis.incr('counted'), 'incr'],
  ['a script', () => count.run(redis, ['counted'], []), 'evalsha'],
])(
  'Redis connection: %s whose reply is lost is executed once and not sent again, and its caller gets an error',
  async (_what, act, whenSent) => {
    await count.run(redis, ['other'], []);
    const sprung = proxy.setTrap({ whenSent, passOn: true, then: 'cut' });
    await Promise.all([expect(act()).rejects.toThrow(), sprung]);
    await whenReady(redis);
    expect(await redis.get('counted')).toBe('1');
  },
);

test('Redis connection: a script that the server does not know by its digest is sent with its source', async () => {
  expect(await count.run(redis, ['counted'], [])).toBe(1);
  await redis.script('FLUSH');
  expect(await count.run(redis, ['counted'], [])).toBe(2);
});

test('Redis connection: an error inside a script is thrown to the caller', async () => {
  await redis.set('counted', 'text');
  await expect(count.run(redis, ['counted'], [])).rejects.toThrow('not an integer');
});

test('Redis connection: without a server a command fails at once, and with a server that does not answer it fails after its timeout', async () => {
  proxy.silence();
  const started = Date.now();
  await expect(redis.get('x')).rejects.toThrow('timed out');
  const lost = new Promise((resolve) => redis.once('close', resolve));
  proxy.refuse();
  await lost;
  await expect(redis.get('x')).rejects.toThrow();
  expect(Date.now() - started).toBeLessThan(600);
});

test('Redis connection: when the server stops answering, the client opens a new connection', async () => {
  proxy.silence();
  await expect(redis.get('x')).rejects.toThrow('timed out');
  // Old connections stay silent and only new ones work, as when another machine has taken the address.
  proxy.restore();
  const lost = new Promise((resolve) => redis.once('close', resolve));
  await lost;
  expect(await whenReady(redis)).toBe(true);
  expect(await redis.set('x', '1')).toBe('OK');
}, 10_000);

test('Redis connection: the client reconnects when the server is back', async () => {
  const lost = new Promise((resolve) => redis.once('close', resolve));
  proxy.refuse();
  await lost;
  proxy.restore();
  expect(await whenReady(redis)).toBe(true);
  expect(await redis.set('x', '1')).toBe('OK');
});

test('whenReady: returns false after its timeout if there is no server', async () => {
  const absent = connectRedis('redis://127.0.0.1:1', { name: 'absent' });
  expect(await whenReady(absent, 50)).toBe(false);
  await closeRedis(absent);
});

test.each([false, true])(
  'closeRedis: closing does not wait for an unreachable server, and stops the reconnects (connection for jobs: %s)',
  async (forJobs) => {
    const unreachable = connectRedis(proxy.url, { name: 'unreachable', forJobs });
    await whenReady(unreachable);
    const lost = new Promise((resolve) => unreachable.once('close', resolve));
    await closeRedis(redis);
    proxy.refuse();
    await lost;
    const started = Date.now();
    await closeRedis(unreachable);
    expect(Date.now() - started).toBeLessThan(500);
    proxy.restore();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(proxy.connections).toBe(0);
  },
);

test.each([false, true])(
  'closeRedis: closing does not wait for a server that does not answer (connection for jobs: %s)',
  async (forJobs) => {
    const silent = connectRedis(proxy.url, { name: 'silent', forJobs });
    await whenReady(silent);
    proxy.silence();
    const started = Date.now();
    await closeRedis(silent);
    expect(Date.now() - started).toBeLessThan(1500);
  },
);
