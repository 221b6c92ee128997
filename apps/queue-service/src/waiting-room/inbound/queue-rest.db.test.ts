import { randomUUID } from 'node:crypto';
import { queueKeys } from '#contracts/queue-keys';
import { queueStatusAnswer } from '#contracts/waiting-room-control';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';
import { pause, TOKEN_SECRETS } from '../testing/line-fixture.ts';
import { RedisWaitingLines } from '../outbound/redis-waiting-lines.ts';
import { positionAnswer } from '#contracts/waiting-room';

let service: ServiceFixture;
beforeAll(async () => (service = await serviceFixture({ QUEUE_PERSISTENCE_SECONDS: '60' })));
afterAll(() => service.close());

const position = (matchId: string, user: string) => service.call('GET', `/api/v1/queue/${matchId}/position`, { user });

async function readUntil<T>(read: () => Promise<T>, isDone: (value: T) => boolean, withinMs: number): Promise<T> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (isDone(value) || Date.now() > deadlineMs) return value;
    await pause(20);
  }
}

describe('joining', () => {
  test('the first join is 201 with all fields of `positionAnswer`; a second join is 200 with the same answer', async () => {
    const matchId = await service.match();
    const user = randomUUID();
    const first = await service.call('POST', `/api/v1/queue/${matchId}/join`, { user });
    expect(first.status).toBe(201);
    expect(first.headers.get('location')).toBe(`/api/v1/queue/${matchId}/position`);
    expect(positionAnswer.parse(first.body)).toMatchObject({
      position: 1,
      total: 1,
      estimated_wait_minutes: null,
      status: 'waiting',
    });
    expect(first.body.websocket_url).toBe(`ws://127.0.0.1:3001/ws/${String(first.body.queue_token)}`);
    expect(first.body.sse_url).toBe(`http://127.0.0.1:3001/sse/${String(first.body.queue_token)}`);
    const again = await service.call('POST', `/api/v1/queue/${matchId}/join`, { user, body: { receipt: first.body.receipt } });
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  test('the only fan in line has a turn within a second of joining, with session token, end of the window and checkout URL', async () => {
    const matchId = await service.match({});
    const { user } = await service.join(matchId);
    const { body } = await readUntil(
      () => position(matchId, user),
      ({ body }) => body.status === 'granted',
      1000,
    );
    expect(body).toMatchObject({
      status: 'granted',
      position: 0,
      checkout_url: `http://127.0.0.1:3000/matches/${matchId}/checkout`,
    });
    expect(body.session_token).toMatch(/^st_/);
    expect(Date.parse(String(body.purchase_window_expires_at)) - Date.now()).toBeGreaterThan(1_190_000);
  });

  test('a fan whose pod dies right after the join gets a turn within a second from another pod, even in a match that was idle', async () => {
    const settings = { purchaseWindowMs: 60_000, persistenceSeconds: 60, presenceMs: 60_000, tokenSecrets: TOKEN_SECRETS };
    const other = new RedisWaitingLines(service.redis, settings);
    const matchId = await service.match({});
    // Each join comes at a different moment of the pause in which pods skip an idle match (IDLE_PAUSE_MS).
    for (const restMs of [900, 700, 800]) {
      await pause(restMs);
      const user = randomUUID();
      await other.join(matchId, user);
      const granted = () => service.redis.hexists(queueKeys.windows(matchId), user);
      expect(await readUntil(granted, (has) => has === 1, 1000)).toBe(1);
      await other.leave(matchId, user);
    }
  });

  test.each([
    ['a match without a waiting room', async () => randomUUID(), 404, { code: 'NOT_FOUND' }],
    [
      'a scheduled sale (with opens_at)',
      () => service.match({ status: 'scheduled', opens_at: '2099-01-01T10:00:00.000Z' }),
      409,
      { code: 'SALE_NOT_OPEN', sale_status: 'scheduled', opens_at: '2099-01-01T10:00:00.000Z' },
    ],
    ['a closed sale', () => service.match({ status: 'closed' }), 409, { code: 'QUEUE_CLOSED', reason: 'closed' }],
  ])('join of %s is refused', async (_what, match, status, problem) => {
    const answer = await service.call('POST', `/api/v1/queue/${await match()}/join`, { user: randomUUID() });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.body).toMatchObject(problem);
  });

  test.each([
    ['an object with an unknown field', { entry: 1 }],
    ['a receipt that is not a string', { receipt: 7 }],
    ['a list', []],
    ['null', null],
    ['incomplete JSON', '{"receipt":'],
  ])('join with %s as the body is 400', async (_what, body) => {
    const matchId = await service.match();
    const answer = await service.call('POST', `/api/v1/queue/${matchId}/join`, { user: randomUUID(), body });
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  test('join with an invalid match id is 400, without a signed-in user 401, and ids in upper case are accepted', async () => {
    const matchId = await service.match();
    const user = randomUUID();
    expect((await service.call('POST', '/api/v1/queue/nonsense/join', { user })).status).toBe(400);
    expect((await service.call('POST', `/api/v1/queue/${matchId}/join`)).status).toBe(401);
    await service.join(matchId, user);
    expect((await position(matchId.toUpperCase(), user.toUpperCase())).status).toBe(200);
  });
});

describe('position', () => {
  test('position is 404 for a fan who was never in line or has left; fans behind a fan who leaves move up', async () => {
    const matchId = await service.match();
    const [first, second] = [await service.join(matchId), await service.join(matchId)];
    expect((await position(matchId, randomUUID())).status).toBe(404);
    expect((await position(matchId, second.user)).body).toMatchObject({ position: 2, total: 2, queue_token: second.token });
    expect((await service.call('DELETE', `/api/v1/queue/${matchId}`, { user: first.user })).status).toBe(204);
    expect((await service.call('DELETE', `/api/v1/queue/${matchId}`, { user: first.user })).status).toBe(204);
    expect((await position(matchId, first.user)).status).toBe(404);
    expect((await position(matchId, second.user)).body).toMatchObject({ position: 1, total: 1 });
    expect((await service.call('DELETE', `/api/v1/queue/${randomUUID()}`, { user: first.user })).status).toBe(204);
  });

  test('in a paused queue the answers of join and position give the reason of the pause, and join gives no estimated wait', async () => {
    const matchId = await service.match({ status: 'paused', reason: 'floodlights' });
    const { user, entry } = await service.join(matchId);
    expect(entry).toMatchObject({ status: 'waiting', paused: true, reason: 'floodlights', estimated_wait_minutes: null });
    expect((await position(matchId, user)).body).toMatchObject({ paused: true, reason: 'floodlights' });
  });

  test.each([
    [
      'completed',
      async (matchId: string, user: string) => service.internal('POST', `/api/v1/queue/${matchId}/windows/${user}/complete`),
      { status: 'completed' },
    ],
    [
      'closed',
      async (matchId: string) => service.internal('PUT', `/api/v1/queue/${matchId}/control`, { status: 'closed' }),
      { status: 'closed', reason: 'closed' },
    ],
  ])('the request `position` after the end of the turn gives the status %s and position null', async (_end, end, expected) => {
    const matchId = await service.match({});
    const { user } = await service.join(matchId);
    await readUntil(
      () => position(matchId, user),
      ({ body }) => body.status === 'granted',
      1000,
    );
    expect((await end(matchId, user)).status).toBe(204);
    expect((await end(matchId, user)).status).toBe(204);
    const { status, body } = await position(matchId, user);
    expect(status).toBe(200);
    expect(positionAnswer.parse(body)).toMatchObject({ ...expected, position: null, queue_token: null });
  });
});

describe('status and internal calls', () => {
  test('status and length of the line are public; only internal calls get open windows and numbers of turns', async () => {
    const matchId = await service.match({ max_open_windows: 1, processing_rate: 120 });
    const { user } = await service.join(matchId);
    await service.join(matchId);
    await readUntil(
      () => position(matchId, user),
      ({ body }) => body.status === 'granted',
      1000,
    );
    const open = await service.call('GET', `/api/v1/queue/${matchId}/status`);
    expect(open.body).toEqual({ status: 'active', total: 1, processing_rate: 120, estimated_wait_minutes: expect.any(Number) });
    const internal = await service.internal('GET', `/api/v1/queue/${matchId}/status`);
    expect(queueStatusAnswer.parse(internal.body)).toMatchObject({ open_windows: 1, granted: 1, completed: 0, expired: 0 });
    expect((await service.call('GET', `/api/v1/queue/${randomUUID()}/status`)).status).toBe(404);
  });

  test.each([
    ['POST', 'sold-out', { remaining_sectors: [] }],
    ['PUT', 'control', { status: 'paused' }],
    ['POST', `windows/${randomUUID()}/complete`, undefined],
  ])('internal call %s %s without the internal secret, or with a wrong secret, is 401', async (method, path, body) => {
    const matchId = await service.match();
    for (const headers of [{}, { 'x-internal-auth': 'development-internal-auth-secret-001' }, { 'x-internal-auth': '' }]) {
      const answer = await service.call(method, `/api/v1/queue/${matchId}/${path}`, {
        body,
        headers: headers as Record<string, string>,
        user: randomUUID(),
      });
      expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHENTICATED']);
    }
    expect((await service.internal(method, `/api/v1/queue/${matchId}/${path}`, body)).status).toBe(204);
    expect((await service.internal(method, `/api/v1/queue/${matchId}/${path}`, body)).status).toBe(204);
  });

  test('the internal calls `sold-out` and `complete` for a match without a queue are 204', async () => {
    expect((await service.internal('POST', `/api/v1/queue/${randomUUID()}/sold-out`, { remaining_sectors: [] })).status).toBe(
      204,
    );
    expect((await service.internal('POST', `/api/v1/queue/${randomUUID()}/windows/${randomUUID()}/complete`)).status).toBe(204);
  });

  test.each([
    ['an unknown status', { status: 'open' }],
    ['a rate of 0', { processing_rate: 0 }],
    ['a rate as a string', { processing_rate: '3' }],
    ['a fraction of a window', { max_open_windows: 1.5 }],
    ['an unknown field', { rate: 3 }],
    ['an invalid time', { opens_at: 'tomorrow' }],
  ])('the internal call `control` with %s is 400', async (_what, body) => {
    const answer = await service.internal('PUT', `/api/v1/queue/${await service.match()}/control`, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  test('the next fan gets a turn within a second after a purchase is completed', async () => {
    const matchId = await service.match({ max_open_windows: 1, processing_rate: 60_000 });
    const [first, second] = [await service.join(matchId), await service.join(matchId)];
    await readUntil(
      () => position(matchId, first.user),
      ({ body }) => body.status === 'granted',
      1000,
    );
    await service.internal('POST', `/api/v1/queue/${matchId}/windows/${first.user}/complete`);
    const { body } = await readUntil(
      () => position(matchId, second.user),
      ({ body }) => body.status === 'granted',
      1000,
    );
    expect(body.status).toBe('granted');
  });

  test('/health/ready answers ok, and /metrics has the metrics of sockets, lines and turns', async () => {
    const matchId = await service.match();
    await service.join(matchId);
    expect((await service.call('GET', '/health/ready')).body).toEqual({ status: 'ok', down: [] });
    const { body } = await service.call('GET', '/metrics');
    expect(body.text).toContain(`queue_waiting{match_id="${matchId}"} 1`);
    expect(body.text).toContain(`queue_open_windows{match_id="${matchId}"} 0`);
    expect(body.text).toMatch(/^websocket_connections \d+$/m);
    expect(body.text).toMatch(/^queue_turns_granted_total \d+$/m);
  });
});
