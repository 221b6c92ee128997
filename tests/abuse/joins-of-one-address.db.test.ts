import { randomUUID } from 'node:crypto';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { serviceFixture, type ServiceFixture } from '../../apps/queue-service/src/waiting-room/testing/service-fixture.ts';

// Attack: a bot joins with many accounts from one address in the moment of the opening and takes the first places. The order stays first
// come, first served; operators must see it happen, once, whichever pods the bot used.

const BOT = '203.0.113.7';
let redis: TestRedis;
let pods: readonly ServiceFixture[];

beforeAll(async () => {
  redis = await createTestRedis();
  const env = { REDIS_URL: redis.url, TRUSTED_PROXIES: '127.0.0.1/32' };
  pods = [await serviceFixture(env), await serviceFixture(env)];
});
afterAll(async () => {
  for (const pod of pods) await pod.close();
  await redis.close();
});

/** Joins with new accounts from this address, on both pods in turn. */
async function joinFrom(address: string, matchId: string, fans: number): Promise<void> {
  const join = async (at: number): Promise<void> => {
    const headers = { 'x-forwarded-for': address };
    const { status } = await pods[at % 2]!.call('POST', `/api/v1/queue/${matchId}/join`, { user: randomUUID(), headers });
    expect(status).toBe(201);
  };
  for (let from = 0; from < fans; from += 50)
    await Promise.all(Array.from({ length: Math.min(50, fans - from) }, (_, at) => join(at)));
}

/** The histogram of a match over both pods: bound → number of addresses with at most so many joins. */
async function histogram(matchId: string): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const pod of pods) {
    const { body } = await pod.call('GET', '/metrics');
    const lines = (body.text as string).matchAll(
      new RegExp(`^queue_joins_by_address_(\\w+)\\{(?:le="([^"]+)",)?match_id="${matchId}"\\} (\\d+)$`, 'gm'),
    );
    for (const [, kind = '', le, value] of lines) sums[le ?? kind] = (sums[le ?? kind] ?? 0) + Number(value);
    expect(body.text).not.toContain(BOT);
  }
  return sums;
}

/** The events about addresses in the stream that the monolith reads. */
async function announcements(matchId: string): Promise<Record<string, unknown>[]> {
  const entries = await pods[0]!.redis.xrange(`queue_events_log:{${matchId}}`, '-', '+');
  const events = entries.map(([, fields]) => JSON.parse(fields[1]!) as Record<string, unknown>);
  return events.filter(({ event }) => event === 'queue.joins_from_one_address');
}

/** Each pod adds its joins once a second. */
const untilCounted = async (matchId: string, joins: number): Promise<void> => {
  for (const deadline = Date.now() + 8000; Date.now() < deadline;) {
    if ((await histogram(matchId)).sum === joins) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await histogram(matchId)).toMatchObject({ sum: joins });
};

test('joins by address are counted over all pods, and an address with more than 2 % of the line and 50 joins is announced once', async () => {
  const matchId = await pods[0]!.match();
  for (let fan = 1; fan <= 12; fan += 1) await joinFrom(`198.51.100.${fan}`, matchId, fan <= 10 ? 1 : 3);
  await joinFrom('2001:db8:0:1::1', matchId, 20);
  await joinFrom('2001:db8:0:1::2', matchId, 20);
  await joinFrom(BOT, matchId, 120);
  await untilCounted(matchId, 176);
  expect(await histogram(matchId)).toMatchObject({
    '1': 10,
    '2': 10,
    '5': 12,
    '20': 12,
    '50': 13,
    '100': 13,
    '200': 14,
    '+Inf': 14,
    count: 14,
    sum: 176,
  });
  expect(await announcements(matchId)).toEqual([
    {
      event: 'queue.joins_from_one_address',
      match_id: matchId,
      address: BOT,
      joins: expect.any(Number),
      line: expect.any(Number),
    },
  ]);
  // More joins of the same address, and a repeated join of one fan: no second announcement.
  await joinFrom(BOT, matchId, 30);
  await untilCounted(matchId, 206);
  expect(await announcements(matchId)).toHaveLength(1);
});

test('an address with fewer than 50 joins, or with at most 2 % of the line, is not announced', async () => {
  const matchId = await pods[0]!.match();
  await joinFrom(BOT, matchId, 49);
  await untilCounted(matchId, 49);
  expect(await announcements(matchId)).toEqual([]);
  // A line of 3,000: 50 joins are less than 2 %.
  const fans = Array.from({ length: 3000 }, (_, at) => [String((Date.now() - 5000) * 1000 + at), randomUUID()]).flat();
  await pods[0]!.redis.zadd(`queue:{${matchId}}`, ...fans);
  await joinFrom(BOT, matchId, 2);
  await untilCounted(matchId, 51);
  expect(await announcements(matchId)).toEqual([]);
});

test('joins more than a minute after the opening are not counted; a new opening counts from the start', async () => {
  const matchId = await pods[0]!.match();
  await joinFrom(BOT, matchId, 3);
  await untilCounted(matchId, 3);
  await pods[0]!.redis.hset(`queue_meta:{${matchId}}`, 'opened_at', Date.now() - 61_000);
  await joinFrom(BOT, matchId, 5);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await histogram(matchId)).toMatchObject({ sum: 3 });
  for (const status of ['closed', 'active']) await pods[0]!.internal('PUT', `/api/v1/queue/${matchId}/control`, { status });
  await joinFrom(BOT, matchId, 2);
  await untilCounted(matchId, 2);
});
