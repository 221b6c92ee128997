import { randomUUID } from 'node:crypto';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';
import { pause } from '../testing/line-fixture.ts';

let service: ServiceFixture;
beforeAll(async () => (service = await serviceFixture()));
afterAll(() => service.close());
beforeEach(() => {
  service.monolith.answers = true;
});

const base = (matchId: string) => `/api/v1/queue/${matchId}`;

describe('while the monolith has not sent the state of a match', () => {
  test.each([
    ['POST', '/join'],
    ['GET', '/position'],
    ['GET', '/status'],
    ['DELETE', ''],
  ])('%s %s is 503 with Retry-After: 1 and `state_needed: true` in the body', async (method, path) => {
    service.monolith.answers = false;
    const answer = await service.call(method, base(randomUUID()) + path, { user: randomUUID() });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(answer.body).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', state_needed: true });
    expect(answer.body).not.toHaveProperty('retry_after_seconds');
  });

  test('internal calls are 204, and the answers of control and complete say in a header that the state is needed', async () => {
    service.monolith.answers = false;
    const matchId = randomUUID();
    const answerOf = async (method: string, path: string, body?: unknown) => {
      const { status, headers } = await service.internal(method, base(matchId) + path, body);
      return [status, headers.get('queue-state-needed')];
    };
    const complete = `/windows/${randomUUID()}/complete`;
    expect(await answerOf('PUT', '/control', { status: 'active' })).toEqual([204, 'true']);
    expect(await answerOf('POST', complete)).toEqual([204, 'true']);
    expect(await answerOf('POST', '/sold-out', { remaining_sectors: [] })).toEqual([204, null]);
    await service.restoreEmpty(matchId);
    expect(await answerOf('PUT', '/control', { status: 'active' })).toEqual([204, null]);
    expect(await answerOf('POST', complete)).toEqual([204, null]);
  });

  test('an internal call `restore` with a later part before part 0 is 409', async () => {
    const answer = await service.internal('PUT', `${base(randomUUID())}/restore`, { generation: 5, part: 1, complete: true });
    expect([answer.status, answer.body.code]).toEqual([409, 'INVALID_STATE']);
  });
});

test('a request waits until the monolith has sent the state: the first request about a match without a waiting room is 404, not 503', async () => {
  const [fan, matchId] = [randomUUID(), randomUUID()];
  const answers = await Promise.all([
    service.call('POST', `${base(matchId)}/join`, { user: fan }),
    service.call('GET', `${base(matchId)}/position`, { user: fan }),
    service.call('GET', `${base(matchId)}/status`),
    service.call('DELETE', base(matchId), { user: fan }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 204]);
});

test('connected fans get `delayed` while the state is missing, and close code 4501 when it is restored', async () => {
  const matchId = await service.match();
  const otherMatchId = await service.match();
  const [fan, fanOfOther] = [await service.join(matchId), await service.join(otherMatchId)];
  const [socket, socketOfOther] = [service.socket(fan.token), service.socket(fanOfOther.token)];
  await Promise.all([socket.next('position_update'), socketOfOther.next('position_update')]);
  service.monolith.answers = false;
  const keys = await service.redis.keys(`*{${matchId}}`);
  await service.redis.del(...keys);
  await socket.next('delayed');
  const late = service.socket(fan.token);
  await late.next('delayed');
  await pause(1500);
  expect(socket.heard.filter(({ type }) => type === 'delayed')).toHaveLength(1);
  expect(socketOfOther.heard.filter(({ type }) => type === 'delayed')).toHaveLength(0);
  service.monolith.answers = true;
  const ends = await Promise.all([socket.ended, late.ended]);
  expect(ends.map(({ code }) => code)).toEqual([4501, 4501]);
  const entry = await service.call('POST', `${base(matchId)}/join`, {
    user: fan.user,
    body: { receipt: fan.entry.receipt },
  });
  expect([entry.status, entry.body.position]).toEqual([201, 1]);
});

describe('the internal call `sold-out` with remaining sectors', () => {
  const sectors = (...names: string[]) =>
    names.map((name, index) => ({ sector_id: randomSector(name), name, available: 5 + index }));
  const ids = new Map<string, string>();
  const randomSector = (name: string) => {
    if (!ids.has(name)) ids.set(name, randomUUID());
    return ids.get(name)!;
  };
  const report = (matchId: string, names: string[], asOf?: number) =>
    service.internal('POST', `${base(matchId)}/sold-out`, { remaining_sectors: sectors(...names), as_of: asOf });
  type Heard = { remaining_sectors?: { name: string }[] };
  const namesIn = (message: unknown) => (message as Heard).remaining_sectors?.map(({ name }) => name);

  test('a changed set of sectors reaches every connected fan on every pod within a second', async () => {
    const second = await serviceFixture({ REDIS_URL: redisUrl() });
    try {
      const matchId = await service.match();
      const fans = await Promise.all(Array.from({ length: 120 }, () => service.join(matchId)));
      const sockets = fans.map(({ token }, index) => (index % 2 ? service : second).socket(token));
      await Promise.all(sockets.map((socket) => socket.next('position_update')));
      for (const [asOf, names] of [
        [1, ['A', 'B', 'C']],
        [2, ['A', 'B']],
        [3, ['A', 'B', 'C']],
        [4, ['C']],
      ] as const) {
        const before = sockets.map((socket) => socket.heard.length);
        const startedAt = performance.now();
        await report(matchId, [...names], asOf);
        const isInformed = (index: number) =>
          sockets[index]!.heard.slice(before[index]).some((message) => namesIn(message)?.join() === names.join());
        while (!sockets.every((_, index) => isInformed(index)) && performance.now() - startedAt < 5000) await pause(5);
        expect(sockets.filter((_, index) => !isInformed(index))).toHaveLength(0);
        expect(performance.now() - startedAt).toBeLessThan(1000);
      }
    } finally {
      await second.close();
    }
  });

  test('a report with a smaller as_of (report number) than an earlier report is ignored, even if it would close the line; a report without as_of is applied', async () => {
    const matchId = await service.match();
    const { token } = await service.join(matchId);
    await report(matchId, ['A', 'B'], 100);
    expect((await report(matchId, ['A', 'B', 'C'], 99)).status).toBe(204);
    expect((await service.internal('POST', `${base(matchId)}/sold-out`, { remaining_sectors: [], as_of: 99 })).status).toBe(204);
    expect(namesIn(await service.socket(token).next('position_update'))).toEqual(['A', 'B']);
    await report(matchId, ['A'], 100);
    expect(namesIn(await service.socket(token).next('position_update'))).toEqual(['A']);
    await report(matchId, ['B']);
    expect(namesIn(await service.socket(token).next('position_update'))).toEqual(['B']);
  });

  const redisUrl = () => {
    const { host, port, db } = service.redis.options;
    return `redis://${host}:${port}/${db}`;
  };
});

test('a join while the state of the match is being restored waits for the last part and is then answered', async () => {
  const [matchId, fan] = [randomUUID(), randomUUID()];
  service.monolith.answers = false;
  const joining = service.call('POST', `${base(matchId)}/join`, { user: fan });
  await pause(50);
  const restore = (body: object) => service.internal('PUT', `${base(matchId)}/restore`, { generation: 1, ...body });
  await restore({ part: 0, sale: { status: 'active', max_open_windows: 0 } });
  await pause(50);
  await restore({ part: 1, complete: true });
  expect((await joining).status).toBe(201);
});
