import { randomUUID } from 'node:crypto';
import { BLACKLIST_CHANNEL, BLACKLIST_REVISION, queueKeys } from '#contracts/queue-keys';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

// What the monolith has written down, in force in the waiting room.

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

/** As the monolith does: the whole list in one step, and a word to all; silently, as if the word had been lost. */
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

const join = async (matchId: string, user: string, at = pod, body?: unknown) => {
  const answer = await at.call('POST', `/api/v1/queue/${matchId}/join`, { user, body });
  return answer.status < 300 ? answer.status : `${answer.status} ${answer.body.code as string}`;
};
const position = async (matchId: string, user: string) =>
  (await pod.call('GET', `/api/v1/queue/${matchId}/position`, { user })).status;
const REFUSED = '403 BLACKLISTED';

async function until(isSo: () => Promise<boolean>, patienceMs = 3000): Promise<number> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > patienceMs) throw new Error('it did not come to be');
    await pause(10);
  }
  return performance.now() - startedAt;
}
const isRefused = (matchId: string, user: string, at = pod) => until(async () => (await join(matchId, user, at)) === REFUSED);

test('a listed fan cannot join, on any pod, and can when off the list', async () => {
  const [matchId, fan] = [await pod.match(), randomUUID()];
  await list(fan);
  expect(await isRefused(matchId, fan)).toBeLessThan(500);
  expect(await isRefused(matchId, fan, other)).toBeLessThan(500);
  expect([await position(matchId, fan), await join(matchId, randomUUID())]).toEqual([404, 201]);
  const joins = () => pod.redis.hget(queueKeys.meta(matchId), 'joins');
  const before = await joins();
  for (let tries = 0; tries < 5; tries += 1) expect(await join(matchId, fan)).toBe(REFUSED);
  expect(await joins()).toBe(before);
  listed.delete(fan);
  await write();
  await until(async () => (await join(matchId, fan)) === 201);
});

test('also when nobody could be told, within a second or so', async () => {
  const [matchId, fan] = [await pod.match(), randomUUID()];
  await list(fan, '', { silently: true });
  expect(await isRefused(matchId, fan)).toBeLessThan(1600);
});

test('a list that ends by itself ends, on the clock of Redis', async () => {
  const [matchId, fan] = [await pod.match(), randomUUID()];
  await list(fan, Date.now() + 600);
  await isRefused(matchId, fan);
  const endedMs = await until(async () => (await join(matchId, fan)) === 201);
  expect(endedMs).toBeLessThan(900);
});

test('no queue is not found first; the list comes before a queue that is not open', async () => {
  const [scheduled, fan] = [await pod.match({ status: 'scheduled' }), randomUUID()];
  await list(fan);
  await isRefused(await pod.match(), fan);
  expect(await join(randomUUID(), fan)).toBe('404 NOT_FOUND');
  expect(await join(scheduled, fan)).toBe(REFUSED);
  expect(await join(scheduled, fan, pod, { receipt: 'not ours' })).toBe('400 VALIDATION_FAILED');
});

test('who waits is taken out of every line and told so; those behind move up', async () => {
  const [one, two] = [await pod.match(), await pod.match()];
  const { user, token } = await pod.join(one);
  await pod.join(two, user);
  const behind = await pod.join(one);
  const socket = other.socket(token);
  await socket.next('position_update');
  await list(user);
  expect((await socket.ended).code).toBe(4505);
  await until(async () => (await position(one, user)) === 404 && (await position(two, user)) === 404);
  const { body } = await pod.call('GET', `/api/v1/queue/${one}/position`, { user: behind.user });
  expect([body.position, body.total]).toEqual([1, 1]);
  expect(await join(one, user)).toBe(REFUSED);
});

test('an open window ends, and the next fan has it', async () => {
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

test('F: Redis loses everything: pods remember, and a new pod learns it as soon as the monolith has written it again', async () => {
  const fan = randomUUID();
  await list(fan);
  await isRefused(await pod.match(), fan);
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
    expect(await isRefused(matchId, fan, fresh)).toBeLessThan(500);
    // And the place given in between is gone again.
    await until(async () => (await position(matchId, fan)) === 404);
  } finally {
    await fresh.close();
  }
});

test('a pod that starts knows the list before it lets anybody in', async () => {
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

test('a hundred fans who join while they are listed: none is in line afterwards', async () => {
  const matchId = await pod.match();
  const fans = Array.from({ length: 100 }, () => randomUUID());
  const joins = fans.map((fan, index) => join(matchId, fan, index % 2 ? pod : other));
  for (const fan of fans) listed.set(fan, '');
  await write();
  const answers = await Promise.all(joins);
  expect(new Set(answers).size).toBeGreaterThan(0);
  await until(async () => (await pod.redis.zcard(queueKeys.line(matchId))) === 0);
});
