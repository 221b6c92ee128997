import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from './redis-connection.ts';
import { BatchedScript } from './batched-script.ts';

let testRedis: TestRedis;
let proxy: TcpProxy;
let redis: RedisConnection;
let add: BatchedScript<[string, number]>;

beforeAll(async () => (testRedis = await createTestRedis()));
afterAll(() => testRedis.close());

beforeEach(async () => {
  await testRedis.flush();
  proxy = await TcpProxy.inFrontOf(testRedis.url);
  redis = connectRedis(proxy.url, { name: 'batched-script-test', commandTimeoutMs: 200 });
  await whenReady(redis);
  add = new BatchedScript(redis, `function(key, by, times) return { key, redis.call('INCRBY', key, by * times) } end`);
});

afterEach(async () => {
  await closeRedis(redis);
  await proxy.close();
});

async function callsOfScripts(): Promise<number> {
  const [, calls] = /cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats')) ?? [];
  return Number(calls ?? 0);
}

test('BatchedScript: 250 calls of one tick are sent to Redis as three scripts, run in order, and each call gets its own reply', async () => {
  await add.run('warm', 1, 1);
  const before = await callsOfScripts();
  const answers = await Promise.all(
    Array.from({ length: 250 }, (_, index) => add.run(index % 2 ? 'odd' : 'even', index % 2, 10)),
  );
  expect(answers.filter(([key]) => key === 'even')).toEqual(Array.from({ length: 125 }, () => ['even', 0]));
  expect(answers.filter(([key]) => key === 'odd').map(([, sum]) => sum)).toEqual(
    Array.from({ length: 125 }, (_, index) => 10 * (index + 1)),
  );
  expect((await callsOfScripts()) - before).toBe(3);
});

test('BatchedScript: calls that are made one after the other get their replies one by one', async () => {
  for (let sum = 1; sum <= 3; sum += 1) expect(await add.run('alone', 1, 1)).toEqual(['alone', sum]);
});

test('BatchedScript: a call may have no arguments, and the reply to a Lua function that returns false is null', async () => {
  const isThere = new BatchedScript<number | null>(redis, `function(key) return redis.call('EXISTS', key) == 1 and 1 end`);
  await redis.set('here', 'x');
  expect(await Promise.all(['here', 'nowhere', 'here'].map((key) => isThere.run(key)))).toEqual([1, null, 1]);
});

test('BatchedScript: if the Redis server has lost the script, the script is sent again', async () => {
  await add.run('sum', 1, 1);
  await redis.script('FLUSH');
  expect(await Promise.all([add.run('sum', 1, 1), add.run('sum', 1, 1)])).toEqual([
    ['sum', 2],
    ['sum', 3],
  ]);
});

test('BatchedScript: an error in one call fails all calls of its batch, and no later call', async () => {
  await redis.set('text', 'x');
  const shared = await Promise.allSettled([add.run('text', 1, 1), add.run('sum', 1, 1)]);
  expect(shared.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await add.run('sum', 1, 1)).toEqual(['sum', 1]);
});

test('BatchedScript: if the Redis server does not answer, all calls fail after the command timeout, even calls that are made later', async () => {
  proxy.silence();
  const started = Date.now();
  const first = add.run('sum', 1, 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const outcomes = await Promise.allSettled([first, add.run('sum', 1, 1)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(Date.now() - started).toBeLessThan(900);
});
