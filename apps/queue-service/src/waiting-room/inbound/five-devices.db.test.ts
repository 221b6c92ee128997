import { WebSocket } from 'ws';
import { queueKeys } from '#contracts/queue-keys';
import type { FanSocket } from '../testing/fan-socket.ts';
import { FanStream } from '../testing/fan-stream.ts';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

let one: ServiceFixture;
let other: ServiceFixture;
beforeAll(async () => {
  one = await serviceFixture();
  other = await serviceFixture({ REDIS_URL: redisUrl() });
});
afterAll(async () => {
  await other.close();
  await one.close();
});

/** A fan in line, and what the session says of the connections. */
async function fan() {
  const matchId = await one.match();
  const { token, user } = await one.join(matchId);
  const key = queueKeys.session(user, matchId);
  const session = async () => JSON.parse((await one.redis.get(key))!) as { websocket_id: string | null; devices?: string[] };
  return {
    matchId,
    token,
    user,
    session,
    async write(devices: string[] | undefined) {
      await one.redis.set(key, JSON.stringify({ ...(await session()), devices }), 'KEEPTTL');
    },
    async connect(pod: ServiceFixture): Promise<FanSocket> {
      const socket = pod.socket(token);
      await socket.next('position_update');
      return socket;
    },
    stream: (pod: ServiceFixture) => FanStream.open(pod.url, token),
  };
}

const isOpen = ({ socket }: FanSocket) => socket.readyState === WebSocket.OPEN;

async function until(isSo: () => Promise<boolean> | boolean, withinMs: number): Promise<boolean> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) return false;
    await pause(20);
  }
  return true;
}

describe('a fan on two pods', () => {
  test('the sixth socket closes the oldest at once, on whichever pod it is, and each further one the next', async () => {
    const { connect } = await fan();
    const sockets: FanSocket[] = [];
    for (const pod of [one, other, one, other, one]) sockets.push(await connect(pod));
    const startedAt = Date.now();
    for (let sixth = 0; sixth < 4; sixth += 1) {
      sockets.push(await connect(sixth % 2 ? one : other));
      expect((await sockets[sixth]!.ended).code).toBe(4507);
    }
    // Beats alone would take a second for each.
    expect(Date.now() - startedAt).toBeLessThan(2000);
    await pause(200);
    expect(sockets.slice(4).map(isOpen)).toEqual([true, true, true, true, true]);
  });

  test('seven at the same instant: the two that came first are closed, and no more', async () => {
    const { token, session } = await fan();
    const sockets = [one, other, one, other, one, other, one].map((pod) => pod.socket(token));
    expect(await until(() => sockets.filter(({ socket }) => socket.readyState === WebSocket.CLOSED).length === 2, 3000)).toBe(
      true,
    );
    await pause(1500);
    expect(sockets.filter(isOpen)).toHaveLength(5);
    expect((await session()).devices).toHaveLength(5);
  });

  test('control: where nobody remembers the connections of other pods seven live', async () => {
    const { connect, write } = await fan();
    const sockets: FanSocket[] = [];
    for (const pod of [one, other, one, other, one, other, one]) {
      sockets.push(await connect(pod));
      await write(undefined);
    }
    await pause(200);
    expect(sockets.filter(isOpen)).toHaveLength(7);
  });

  test('sockets and streams count together: a sixth stream is 429 on both, a sixth socket ends the oldest', async () => {
    const { connect, stream, token } = await fan();
    const first = await stream(one);
    await first.next('position_update');
    const sockets = [await connect(other), await connect(one), await connect(other)];
    const last = await stream(other);
    await last.next('position_update');
    for (const pod of [one, other]) {
      const refused = await pod.call('GET', `/sse/${token}`);
      expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await connect(other);
    await first.ended;
    expect(sockets.map(isOpen)).toEqual([true, true, true]);
    last.close();
  });

  test('twenty streams at the same instant on both: five are opened', async () => {
    const { stream } = await fan();
    const streams = await Promise.all(Array.from({ length: 20 }, (_, at) => stream(at % 2 ? one : other)));
    const statuses = streams.map(({ response }) => response.status).sort();
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(15).fill(429)]);
    // Being refused has the pods look after what they have; they have all of it.
    await pause(300);
    expect((await stream(one)).response.status).toBe(429);
    for (const opened of streams) opened.close();
  });

  test('a connection that closes makes room on every pod, and the session names the latest that is left', async () => {
    const { connect, stream, session } = await fan();
    const sockets: FanSocket[] = [];
    for (const pod of [one, one, other, other, one]) sockets.push(await connect(pod));
    const { devices } = await session();
    sockets[4]!.terminate();
    expect(await until(async () => (await session()).devices?.length === 4, 1000)).toBe(true);
    expect((await session()).websocket_id).toBe(devices![3]);
    const opened = await stream(other);
    expect(opened.response.status).toBe(200);
    expect(sockets.slice(0, 4).map(isOpen)).toEqual([true, true, true, true]);
    opened.close();
    for (const socket of sockets) socket.terminate();
    expect(await until(async () => (await session()).devices === undefined, 1000)).toBe(true);
    expect((await session()).websocket_id).toBeNull();
  });

  test('a pod on its way out leaves no connection behind that counts', async () => {
    const { connect, stream } = await fan();
    const leaving = await serviceFixture({ REDIS_URL: redisUrl() });
    const sockets: FanSocket[] = [];
    for (let device = 0; device < 5; device += 1) sockets.push(await connect(leaving));
    sockets[0]!.terminate();
    await leaving.stop();
    expect((await sockets[4]!.ended).code).toBe(4000);
    const opened = await stream(one);
    expect(opened.response.status).toBe(200);
    opened.close();
    await leaving.close();
  });
});

describe('what goes wrong', () => {
  const DEAD = ['dead-1', 'dead-2', 'dead-3', 'dead-4', 'dead-5'];

  test('a pod that was killed: a stream is kept out for as long as the pod may live, and not longer', async () => {
    const { matchId, stream, write } = await fan();
    await write(DEAD);
    await one.redis.zadd(queueKeys.podBeats(matchId), Date.now() - 4000, 'dead-');
    expect((await stream(one)).response.status).toBe(429);
    const opened: FanStream[] = [];
    expect(await until(async () => opened.unshift(await stream(one)) > 0 && opened[0]!.response.status === 200, 3000)).toBe(true);
    opened[0]!.close();
  });

  test('a pod that was killed: its connections make room before those that live, however new they were', async () => {
    const { matchId, connect, session, write } = await fan();
    const sockets = [await connect(one), await connect(other)];
    await write([...(await session()).devices!, ...DEAD.slice(0, 3)]);
    await one.redis.zadd(queueKeys.podBeats(matchId), Date.now() - 6000, 'dead-');
    for (const pod of [one, other, one]) sockets.push(await connect(pod));
    await pause(200);
    expect(sockets.map(isOpen)).toEqual([true, true, true, true, true]);
    expect((await session()).devices).toHaveLength(5);
  });

  test('connections that closed while nobody could be told stop counting once they keep somebody out', async () => {
    const { connect, stream, session, write } = await fan();
    await connect(one);
    const [id] = (await session()).devices!;
    const pod = id!.split('-')[0]!;
    await write([`${pod}-9000001`, `${pod}-9000002`, `${pod}-9000003`, `${pod}-9000004`, id!]);
    expect((await stream(other)).response.status).toBe(429);
    expect(await until(async () => (await session()).devices?.length === 1, 1000)).toBe(true);
    const opened = await stream(other);
    expect(opened.response.status).toBe(200);
    opened.close();
  });

  test('a hint that is lost: the next beat tells the pod which of its connections was replaced', async () => {
    const { matchId, user, connect, session } = await fan();
    const socket = await connect(other);
    const [id] = (await session()).devices!;
    await one.redis.sadd(queueKeys.replaced(matchId), `${user} ${id}`);
    expect((await socket.ended).code).toBe(4507);
    const stay = await connect(other);
    // Told again until the pod has said that it is closed.
    expect(await until(async () => (await one.redis.exists(queueKeys.replaced(matchId))) === 0, 2500)).toBe(true);
    expect(isOpen(stay)).toBe(true);
  });

  test('pods that are alive say so every second', async () => {
    const { matchId, connect, session } = await fan();
    await connect(one);
    const pod = (await session()).devices![0]!.replace(/-.*/, '-');
    const beat = async () => Number(await one.redis.zscore(queueKeys.podBeats(matchId), pod));
    const first = await beat();
    expect(await until(async () => (await beat()) > first, 1500)).toBe(true);
  });
});

function redisUrl(): string {
  const { host, port, db } = one.redis.options;
  return `redis://${host}:${port}/${db}`;
}
