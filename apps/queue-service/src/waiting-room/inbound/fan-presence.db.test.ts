import { queueKeys } from '#contracts/queue-keys';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

let service: ServiceFixture;
beforeAll(async () => {
  service = await serviceFixture({ QUEUE_PRESENCE_SECONDS: '1', QUEUE_PERSISTENCE_SECONDS: '5', QUEUE_UPDATE_SECONDS: '30' });
});
afterAll(() => service.close());

const control = (matchId: string, body: object) => service.internal('PUT', `/api/v1/queue/${matchId}/control`, body);
const position = (matchId: string, user: string) => service.call('GET', `/api/v1/queue/${matchId}/position`, { user });

/** The fans of the queue.front_reached events, in order. */
async function calledFans(matchId: string): Promise<string[]> {
  const entries = await service.redis.xrange(queueKeys.events(matchId), '-', '+');
  const events = entries.map(([, fields]) => JSON.parse(fields[1]!) as { event: string; user_id: string });
  return events.filter(({ event }) => event === 'queue.front_reached').map(({ user_id }) => user_id);
}

/** Calls `isTrue` until it is true. False when `withinMs` is over before. */
async function becomesTrue(isTrue: () => Promise<boolean> | boolean, withinMs: number): Promise<boolean> {
  const deadlineMs = Date.now() + withinMs;
  while (!(await isTrue())) {
    if (Date.now() > deadlineMs) return false;
    await pause(20);
  }
  return true;
}

test('a socket keeps a fan present; a fan without a connection is skipped, gets one queue.front_reached event, and gets a turn within a second of connecting', async () => {
  const matchId = await service.match();
  const [away, here] = [await service.join(matchId), await service.join(matchId)];
  const socket = service.socket(here.token);
  await socket.next('position_update');
  await pause(2200);
  await control(matchId, { max_open_windows: 1 });
  await socket.next('turn_granted', 1000);
  expect(await calledFans(matchId)).toEqual([away.user]);
  expect((await position(matchId, here.user)).body).toMatchObject({ status: 'granted', position: 0 });
  await control(matchId, { max_open_windows: 2 });
  await pause(600);
  const back = service.socket(away.token);
  expect(await back.next('position_update')).toMatchObject({ position: 1, total: 1 });
  await back.next('turn_granted', 1000);
  expect(await calledFans(matchId)).toEqual([away.user]);
});

test('an event stream keeps a fan present', async () => {
  const matchId = await service.match();
  const { token, user } = await service.join(matchId);
  const stop = new AbortController();
  const stream = await fetch(`${service.url}/sse/${token}`, { signal: stop.signal });
  await pause(2200);
  await control(matchId, { max_open_windows: 1 });
  expect(await becomesTrue(async () => (await service.redis.hexists(queueKeys.windows(matchId), user)) === 1, 1000)).toBe(true);
  expect(await calledFans(matchId)).toEqual([]);
  stop.abort();
  await stream.body?.cancel().catch(() => undefined);
});

test('a fan is away after the last socket has closed, but not while a socket to another pod is open', async () => {
  const other = await serviceFixture({ REDIS_URL: redisUrl(), QUEUE_PRESENCE_SECONDS: '1', QUEUE_PERSISTENCE_SECONDS: '5' });
  try {
    const matchId = await service.match();
    const { token, user } = await service.join(matchId);
    const [phone, laptop] = [service.socket(token), other.socket(token)];
    await phone.next('position_update');
    await laptop.next('position_update');
    await pause(1200);
    laptop.terminate();
    const goneAt = () => service.redis.zscore(queueKeys.gone(matchId), user);
    // The other pod reports that the laptop's socket has closed. The phone's socket to this pod is open, so `websocket_id` does
    // not become null.
    expect(
      await becomesTrue(
        async () => (await service.redis.get(queueKeys.session(user, matchId)))!.includes('"websocket_id":null'),
        300,
      ),
    ).toBe(false);
    expect(await goneAt()).toBeNull();
    phone.terminate();
    expect(await becomesTrue(async () => (await goneAt()) !== null, 1000)).toBe(true);
  } finally {
    await other.close();
  }
});

test('a fan without a sign of life for QUEUE_PERSISTENCE_SECONDS is dropped; the next fan moves up and gets the new position', async () => {
  const matchId = await service.match();
  const [gone, next] = [await service.join(matchId), await service.join(matchId)];
  const socket = service.socket(next.token);
  expect(await socket.next('position_update')).toMatchObject({ position: 2 });
  await pause(4000);
  expect(await service.redis.zcard(queueKeys.line(matchId))).toBe(2);
  expect(await socket.next('position_update', 2500)).toMatchObject({ position: 1, total: 1 });
  expect((await position(matchId, gone.user)).body).toMatchObject({ status: 'expired', position: null });
  const late = service.socket(gone.token);
  await late.next('turn_expired');
  expect((await late.ended).code).toBe(4506);
});

test('fans whose sockets a pod closes on shutdown do not count as away; fans whose sockets all close by themselves do', async () => {
  const other = await serviceFixture({ REDIS_URL: redisUrl(), QUEUE_PRESENCE_SECONDS: '1', QUEUE_PERSISTENCE_SECONDS: '5' });
  const matchId = await service.match();
  const fans = await Promise.all(Array.from({ length: 20 }, () => service.join(matchId)));
  const sockets = fans.map(({ token }) => other.socket(token));
  await Promise.all(sockets.map((socket) => socket.next('position_update')));
  await Promise.all([other.stop(), ...sockets.map(({ ended }) => ended)]);
  expect(await service.redis.zcard(queueKeys.gone(matchId))).toBe(0);
  const again = fans.map(({ token }) => service.socket(token));
  await Promise.all(again.map((socket) => socket.next('position_update')));
  for (const socket of again) socket.terminate();
  expect(await becomesTrue(async () => (await service.redis.zcard(queueKeys.gone(matchId))) === 20, 1500)).toBe(true);
  await other.close();
});

test('a receipt of another fan is 400, and a receipt of an entry the fan has left does not restore it', async () => {
  const matchId = await service.match();
  const [mine, other] = [await service.join(matchId), await service.join(matchId)];
  const join = (user: string, receipt: unknown) =>
    service.call('POST', `/api/v1/queue/${matchId}/join`, { user, body: { receipt } });
  const forged = await join(mine.user, other.entry.receipt);
  expect([forged.status, forged.body.code, forged.body.errors]).toEqual([
    400,
    'VALIDATION_FAILED',
    [{ path: 'receipt', message: expect.any(String) }],
  ]);
  await service.call('DELETE', `/api/v1/queue/${matchId}`, { user: mine.user });
  expect((await join(mine.user, mine.entry.receipt)).body).toMatchObject({ position: 2, total: 2 });
});

function redisUrl(): string {
  const { host, port, db } = service.redis.options;
  return `redis://${host}:${port}/${db}`;
}
