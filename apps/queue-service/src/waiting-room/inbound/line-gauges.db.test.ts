import { randomUUID } from 'node:crypto';
import { queueKeys } from '#contracts/queue-keys';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';
import { createTestRedis, type TestRedis } from '#testing/test-database';

// The gauges of the lines in the metrics of two pods that share a Redis.

let testRedis: TestRedis;
let pods: ServiceFixture[];

beforeEach(async () => {
  testRedis = await createTestRedis();
  pods = [await serviceFixture({ REDIS_URL: testRedis.url }), await serviceFixture({ REDIS_URL: testRedis.url })];
});
afterEach(async () => {
  await Promise.all(pods.map((pod) => pod.close()));
  await testRedis.close();
});

/** The lines of both gauges of a match in the metrics of each pod. */
async function gauges(matchId: string): Promise<string[][]> {
  const pages = await Promise.all(pods.map((pod) => pod.call('GET', '/metrics')));
  const pattern = new RegExp(`^(queue_waiting|queue_open_windows)\\{match_id="${matchId}"\\} (\\d+)$`, 'gm');
  return pages.map(({ body }) => [...String(body.text).matchAll(pattern)].map(([, name, value]) => `${name} ${value}`));
}
const reports = (waiting: number, windows: number) => [`queue_waiting ${waiting}`, `queue_open_windows ${windows}`];
const control = (matchId: string, body: object) => pods[0]!.internal('PUT', `/api/v1/queue/${matchId}/control`, body);

async function lineOfTwo(): Promise<string> {
  const matchId = await pods[0]!.match();
  await Promise.all(pods.map((pod) => pod.join(matchId)));
  return matchId;
}

test('the gauges of a line are reported by one of two pods, so their sum over the pods is right', async () => {
  const matchId = await lineOfTwo();
  for (let scrape = 0; scrape < 3; scrape += 1)
    expect((await gauges(matchId)).sort((a, b) => b.length - a.length)).toEqual([reports(2, 0), []]);
});

test('when the reporting pod stops, the other pod reports at once; a pod that dies is replaced when its claim expires', async () => {
  const matchId = await lineOfTwo();
  const reporter = (await gauges(matchId)).findIndex((lines) => lines.length > 0);
  const [stopping] = pods.splice(reporter, 1);
  await stopping!.close();
  expect(await gauges(matchId)).toEqual([reports(2, 0)]);
  // A pod that died has left its claim behind.
  await pods[0]!.redis.set(queueKeys.lineReporter, 'dead-pod', 'PX', 300);
  expect(await gauges(matchId)).toEqual([[]]);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(await gauges(matchId)).toEqual([reports(2, 0)]);
});

test('when a line ends, its gauges are reported once with 0, and then no more', async () => {
  const [ending, running] = [await lineOfTwo(), await lineOfTwo()];
  await control(ending, { max_open_windows: 1 });
  expect((await gauges(ending)).flat()).toHaveLength(2);
  await control(ending, { status: 'closed', reason: 'over' });
  let lines = await gauges(ending);
  for (let tries = 0; tries < 100 && lines.flat().join() !== reports(0, 0).join(); tries += 1) lines = await gauges(ending);
  expect(lines.flat()).toEqual(reports(0, 0));
  expect((await gauges(ending)).flat()).toEqual([]);
  expect((await gauges(running)).flat()).toEqual(reports(2, 0));
});

test('a line that Redis has lost keeps its last gauges until its state is restored', async () => {
  const matchId = await lineOfTwo();
  const before = await gauges(matchId);
  for (const pod of pods) pod.monolith.answers = false;
  await pods[0]!.redis.del(queueKeys.restored(matchId), queueKeys.line(matchId), queueKeys.meta(matchId));
  expect((await gauges(matchId)).flat()).toEqual(before.flat());
  expect((await gauges(randomUUID())).flat()).toEqual([]);
});
