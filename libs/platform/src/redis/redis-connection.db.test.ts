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
])('%s whose answer is lost is not sent again: it counts once, and its caller hears of it', async (_what, act, whenSent) => {
  await count.run(redis, ['other'], []);
  const sprung = proxy.setTrap({ whenSent, passOn: true, then: 'cut' });
  await Promise.all([expect(act()).rejects.toThrow(), sprung]);
  await whenReady(redis);
  expect(await redis.get('counted')).toBe('1');
});

test('a script the server does not know, or no longer, is sent in full', async () => {
  expect(await count.run(redis, ['counted'], [])).toBe(1);
  await redis.script('FLUSH');
  expect(await count.run(redis, ['counted'], [])).toBe(2);
});

test('an error of a script is its own and is thrown', async () => {
  await redis.set('counted', 'text');
  await expect(count.run(redis, ['counted'], [])).rejects.toThrow('not an integer');
});

test('without a server a command fails at once, and with a silent one in its time', async () => {
  proxy.silence();
  const started = Date.now();
  await expect(redis.get('x')).rejects.toThrow('timed out');
  const lost = new Promise((resolve) => redis.once('close', resolve));
  proxy.refuse();
  await lost;
  await expect(redis.get('x')).rejects.toThrow();
  expect(Date.now() - started).toBeLessThan(600);
});

test('a connection on which nothing is heard any more is given up for a new one', async () => {
  proxy.silence();
  await expect(redis.get('x')).rejects.toThrow('timed out');
  // Only new ones work again, as when another machine has taken the address.
  proxy.restore();
  const lost = new Promise((resolve) => redis.once('close', resolve));
  await lost;
  expect(await whenReady(redis)).toBe(true);
  expect(await redis.set('x', '1')).toBe('OK');
}, 10_000);

test('it comes back by itself', async () => {
  const lost = new Promise((resolve) => redis.once('close', resolve));
  proxy.refuse();
  await lost;
  proxy.restore();
  expect(await whenReady(redis)).toBe(true);
  expect(await redis.set('x', '1')).toBe('OK');
});

test('waiting for a server that does not come ends', async () => {
  const absent = connectRedis('redis://127.0.0.1:1', { name: 'absent' });
  expect(await whenReady(absent, 50)).toBe(false);
  await closeRedis(absent);
});

test.each([false, true])(
  'closing does not wait for a server that is gone, and ends the attempts to reach it (for jobs: %s)',
  async (forJobs) => {
    const gone = connectRedis(proxy.url, { name: 'gone', forJobs });
    await whenReady(gone);
    const lost = new Promise((resolve) => gone.once('close', resolve));
    await closeRedis(redis);
    proxy.refuse();
    await lost;
    const started = Date.now();
    await closeRedis(gone);
    expect(Date.now() - started).toBeLessThan(500);
    proxy.restore();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(proxy.connections).toBe(0);
  },
);

test.each([false, true])('closing does not wait for a server that is silent (for jobs: %s)', async (forJobs) => {
  const mute = connectRedis(proxy.url, { name: 'mute', forJobs });
  await whenReady(mute);
  proxy.silence();
  const started = Date.now();
  await closeRedis(mute);
  expect(Date.now() - started).toBeLessThan(1500);
});
