import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from './redis-connection.ts';
import { SharedScript } from './shared-script.ts';

let testRedis: TestRedis;
let proxy: TcpProxy;
let redis: RedisConnection;
let add: SharedScript<[string, number]>;

beforeAll(async () => (testRedis = await createTestRedis()));
afterAll(() => testRedis.close());

beforeEach(async () => {
  await testRedis.flush();
  proxy = await TcpProxy.inFrontOf(testRedis.url);
  redis = connectRedis(proxy.url, { name: 'shared-script-test', commandTimeoutMs: 200 });
  await whenReady(redis);
  add = new SharedScript(redis, `function(key, by, times) return { key, redis.call('INCRBY', key, by * times) } end`);
});

afterEach(async () => {
  await closeRedis(redis);
  await proxy.close();
});

async function callsOfScripts(): Promise<number> {
  const [, calls] = /cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats')) ?? [];
  return Number(calls ?? 0);
}

test('250 at once share three calls, each is answered for itself, in the order they asked', async () => {
  await add.run('warm', 1, 1);
  const before = await callsOfScripts();
  const answers = await Promise.all(Array.from({ length: 250 }, (_, at) => add.run(at % 2 ? 'odd' : 'even', at % 2, 10)));
  expect(answers.filter(([key]) => key === 'even')).toEqual(Array.from({ length: 125 }, () => ['even', 0]));
  expect(answers.filter(([key]) => key === 'odd').map(([, sum]) => sum)).toEqual(
    Array.from({ length: 125 }, (_, at) => 10 * (at + 1)),
  );
  expect((await callsOfScripts()) - before).toBe(3);
});

test('one after the other they are not kept waiting for company', async () => {
  for (let sum = 1; sum <= 3; sum += 1) expect(await add.run('alone', 1, 1)).toEqual(['alone', sum]);
});

test('a step without arguments, and one that says false', async () => {
  const isThere = new SharedScript<number | null>(redis, `function(key) return redis.call('EXISTS', key) == 1 and 1 end`);
  await redis.set('here', 'x');
  expect(await Promise.all(['here', 'nowhere', 'here'].map((key) => isThere.run(key)))).toEqual([1, null, 1]);
});

test('a server that forgot the script is sent it again', async () => {
  await add.run('sum', 1, 1);
  await redis.script('FLUSH');
  expect(await Promise.all([add.run('sum', 1, 1), add.run('sum', 1, 1)])).toEqual([
    ['sum', 2],
    ['sum', 3],
  ]);
});

test('an error reaches everybody who shared the call, and nobody after them', async () => {
  await redis.set('text', 'x');
  const shared = await Promise.allSettled([add.run('text', 1, 1), add.run('sum', 1, 1)]);
  expect(shared.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await add.run('sum', 1, 1)).toEqual(['sum', 1]);
});

test('when the server falls silent everybody hears of it in the time of a command, also who comes meanwhile', async () => {
  proxy.silence();
  const started = Date.now();
  const first = add.run('sum', 1, 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const outcomes = await Promise.allSettled([first, add.run('sum', 1, 1)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(Date.now() - started).toBeLessThan(900);
});
