import { randomUUID } from 'node:crypto';
import { BLACKLIST_CHANNEL, BLACKLIST_REVISION, queueKeys } from '#contracts/queue-keys';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

// Tests that the waiting room applies the blacklist that the monolith writes to Redis.

let pod: ServiceFixture;
let other: ServiceFixture;
beforeAll(async () => {
  pod = await serviceFixture();
  other = await serviceFixture({
    REDIS_URL: `redis://${pod.redis.options.host}:${pod.redis.options.port}/${pod.redis.options.db}`,
  });
});
afterAll(async () => {
  await other.close();
  await pod.close();
});

let revision = 0;
const listed = new Map<string, string>();

/**
 * Writes the whole list atomically and publishes the change, like the monolith. `silently`: without the publication, as if it
 * were lost.
 */
async function write({ silently = false } = {}): Promise<void> {
  revision += 1;
  const change = pod.redis.multi().del(queueKeys.blacklist).hset(queueKeys.blacklist, BLACKLIST_REVISION, revision);
  for (const [userId, until] of listed) change.hset(queueKeys.blacklist, userId, until);
  await change.exec();
  if (!silently) await pod.redis.publish(BLACKLIST_CHANNEL, 'changed');
}
async function list(userId: string, until: number | '' = '', options = {}): Promise<void> {
  listed.set(userId, String(until));
  await write(options);
}

const join = async (matchId: string, user: string, onPod = pod, body?: unknown) => {
  const answer = await onPod.call('POST', `/api/v1/queue/${matchId}/join`, { user, body });
  return answer.status < 300 ? answer.status : `${answer.status} ${answer.body.code as string}`;
};
const position = async (matchId: string, user: string) =>
  (await pod.call('GET', `/api/v1/queue/${matchId}/position`, { user })).status;
const REFUSED = '403 BLACKLISTED';

/** Calls `isTrue` until it is true. Returns the elapsed milliseconds. */
async function until(isTrue: () => Promise<boolean>, timeoutMs = 3000): Promise<number> {
  const startedAt = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedAt > timeoutMs) throw new Error(`the condition was not met within ${timeoutMs} ms`);
    await pause(10);
  }
  return performance.now() - startedAt;
}
const untilRefused = (matchId: string, user: string, onPod = pod) =>
  until(async () => (await join(matchId, user, onPod)) === REFUSED);

test('a fan on the blacklist cannot join on any pod, and can join again after removal from the list', async () => {
  const [matchId, fan] = [await pod.match(), randomUUID()];
  await list(fan);
  expect(await untilRefused(matchId, fan)).toBeLessThan(500);
  expect(await untilRefused(matchId, fan, other)).toBeLessThan(500);
  expect([await position(matchId, fan), await join(matchId, randomUUID())]).toEqual([404, 201]);
  const joins = () => pod.redis.hget(queueKeys.meta(matchId), 'joins');
  const before = await joins();
  for (let tries = 0; tries < 5; tries += 1) expect(await join(matchId, fan)).toBe(REFUSED);
  expect(await joins()).toBe(before);
  listed.delete(fan);
  await write();
  await until(async () => (await join(matchId, fan)) === 201);
});

test('a change of the blacklist without a publication is applied within 1.6 s', async () => {
  const [matchId, fan] = [await pod.match(), randomUUID()];
  await list(fan, '', { silently: true });
  expect(await untilRefused(matchId, fan)).toBeLessThan(1600);
});

test('a blacklist entry with an end time stops to apply at that time on the clock of Redis', async () => {
  const [matchId, fan] = [await pod.match(), randomUUID()];
  await list(fan, Date.now() + 600);
  await untilRefused(matchId, fan);
  const endedMs = await until(async () => (await join(matchId, fan)) === 201);
  expect(endedMs).toBeLessThan(900);
});

test('join of a fan on the blacklist: a match without a queue is 404, a scheduled queue is BLACKLISTED, a bad receipt is 400', async () => {
  const [scheduled, fan] = [await pod.match({ status: 'scheduled' }), randomUUID()];
  await list(fan);
  await untilRefused(await pod.match(), fan);
  expect(await join(randomUUID(), fan)).toBe('404 NOT_FOUND');
  expect(await join(scheduled, fan)).toBe(REFUSED);
  expect(await join(scheduled, fan, pod, { receipt: 'not ours' })).toBe('400 VALIDATION_FAILED');
});

test('a waiting fan who comes onto the blacklist is removed from every line, the socket closes with 4505, and fans behind move up', async () => {
  const [matchId, otherMatchId] = [await pod.match(), await pod.match()];
  const { user, token } = await pod.join(matchId);
  await pod.join(otherMatchId, user);
  const behind = await pod.join(matchId);
  const socket = other.socket(token);
  await socket.next('position_update');
  await list(user);
  expect((await socket.ended).code).toBe(4505);
  await until(async () => (await position(matchId, user)) === 404 && (await position(otherMatchId, user)) === 404);
  const { body } = await pod.call('GET', `/api/v1/queue/${matchId}/position`, { user: behind.user });
  expect([body.position, body.total]).toEqual([1, 1]);
  expect(await join(matchId, user)).toBe(REFUSED);
});

test('the open window of a fan who comes onto the blacklist ends, and the next fan gets a turn', async () => {
  const matchId = await pod.match({ max_open_windows: 1, processing_rate: 6000 });
  const { user } = await pod.join(matchId);
  await until(async () => (await pod.call('GET', `/api/v1/queue/${matchId}/position`, { user })).body.status === 'granted');
  const next = await pod.join(matchId);
  await list(user);
  await until(
    async () => (await pod.call('GET', `/api/v1/queue/${matchId}/position`, { user: next.user })).body.status === 'granted',
  );
  expect(await position(matchId, user)).toBe(404);
  const events = await pod.redis.xrange(queueKeys.events(matchId), '-', '+');
  expect(events.map(([, [, event]]) => JSON.parse(event!) as object)).toContainEqual(
    expect.objectContaining({ event: 'queue.expired', user_id: user, reason: 'left' }),
  );
});

test('after a loss of Redis running pods still apply the blacklist in their memory, and a new pod applies the blacklist once the monolith has written it again', async () => {
  const fan = randomUUID();
  await list(fan);
  await untilRefused(await pod.match(), fan);
  await pod.redis.flushdb();
  const matchId = await pod.match();
  await pause(1200);
  expect(await join(matchId, fan)).toBe(REFUSED);
  const fresh = await serviceFixture({
    REDIS_URL: `redis://${pod.redis.options.host}:${pod.redis.options.port}/${pod.redis.options.db}`,
  });
  try {
    expect(await join(matchId, fan, fresh)).toBe(201);
    await write();
    expect(await untilRefused(matchId, fan, fresh)).toBeLessThan(500);
    // The queue entry that the fan got through the new pod, before the blacklist was back, was removed.
    await until(async () => (await position(matchId, fan)) === 404);
  } finally {
    await fresh.close();
  }
});

test('a pod that starts reads the blacklist before it accepts joins', async () => {
  const [matchId, fan] = [await pod.match(), randomUUID()];
  await list(fan);
  const fresh = await serviceFixture({
    REDIS_URL: `redis://${pod.redis.options.host}:${pod.redis.options.port}/${pod.redis.options.db}`,
  });
  try {
    expect(await join(matchId, fan, fresh)).toBe(REFUSED);
  } finally {
    await fresh.close();
  }
});

test('of a hundred fans who join while they come onto the blacklist, none is in line afterwards', async () => {
  const matchId = await pod.match();
  const fans = Array.from({ length: 100 }, () => randomUUID());
  const joins = fans.map((fan, index) => join(matchId, fan, index % 2 ? pod : other));
  for (const fan of fans) listed.set(fan, '');
  await write();
  const answers = await Promise.all(joins);
  expect(new Set(answers).size).toBeGreaterThan(0);
  await until(async () => (await pod.redis.zcard(queueKeys.line(matchId))) === 0);
});
