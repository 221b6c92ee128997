import { WebSocket } from 'ws';
import { queueKeys } from '#contracts/queue-keys';
import type { FanSocket } from '../testing/fan-socket.ts';
import { FanStream } from '../testing/fan-stream.ts';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

let firstPod: ServiceFixture;
let secondPod: ServiceFixture;
beforeAll(async () => {
  firstPod = await serviceFixture();
  secondPod = await serviceFixture({ REDIS_URL: redisUrl() });
});
afterAll(async () => {
  await secondPod.close();
  await firstPod.close();
});

/** A new fan in line, with functions that connect devices and read or overwrite the device list in the session. */
async function fan() {
  const matchId = await firstPod.match();
  const { token, user } = await firstPod.join(matchId);
  const key = queueKeys.session(user, matchId);
  const session = async () => JSON.parse((await firstPod.redis.get(key))!) as { websocket_id: string | null; devices?: string[] };
  return {
    matchId,
    token,
    user,
    session,
    async writeDevices(devices: string[] | undefined) {
      await firstPod.redis.set(key, JSON.stringify({ ...(await session()), devices }), 'KEEPTTL');
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

/** Calls `isTrue` until it is true. False when `withinMs` is over before. */
async function becomesTrue(isTrue: () => Promise<boolean> | boolean, withinMs: number): Promise<boolean> {
  const deadlineMs = Date.now() + withinMs;
  while (!(await isTrue())) {
    if (Date.now() > deadlineMs) return false;
    await pause(20);
  }
  return true;
}

describe('the limit of five connections of a fan over two pods', () => {
  test('a sixth socket to either pod closes the oldest socket at once, and each further socket closes the next oldest', async () => {
    const { connect } = await fan();
    const sockets: FanSocket[] = [];
    for (const pod of [firstPod, secondPod, firstPod, secondPod, firstPod]) sockets.push(await connect(pod));
    const startedAt = Date.now();
    for (let sixth = 0; sixth < 4; sixth += 1) {
      sockets.push(await connect(sixth % 2 ? firstPod : secondPod));
      expect((await sockets[sixth]!.ended).code).toBe(4507);
    }
    // If only heartbeats closed replaced sockets, each close would take up to a second.
    expect(Date.now() - startedAt).toBeLessThan(2000);
    await pause(200);
    expect(sockets.slice(4).map(isOpen)).toEqual([true, true, true, true, true]);
  });

  test('of seven sockets opened at the same moment exactly two are closed', async () => {
    const { token, session } = await fan();
    const sockets = [firstPod, secondPod, firstPod, secondPod, firstPod, secondPod, firstPod].map((pod) => pod.socket(token));
    expect(
      await becomesTrue(() => sockets.filter(({ socket }) => socket.readyState === WebSocket.CLOSED).length === 2, 3000),
    ).toBe(true);
    await pause(1500);
    expect(sockets.filter(isOpen)).toHaveLength(5);
    expect((await session()).devices).toHaveLength(5);
  });

  test('negative control: without the shared device list all seven sockets stay open', async () => {
    const { connect, writeDevices } = await fan();
    const sockets: FanSocket[] = [];
    for (const pod of [firstPod, secondPod, firstPod, secondPod, firstPod, secondPod, firstPod]) {
      sockets.push(await connect(pod));
      await writeDevices(undefined);
    }
    await pause(200);
    expect(sockets.filter(isOpen)).toHaveLength(7);
  });

  test('sockets and event streams count together: after five, a new stream is 429 on both pods, a new socket closes the oldest connection', async () => {
    const { connect, stream, token } = await fan();
    const first = await stream(firstPod);
    await first.next('position_update');
    const sockets = [await connect(secondPod), await connect(firstPod), await connect(secondPod)];
    const last = await stream(secondPod);
    await last.next('position_update');
    for (const pod of [firstPod, secondPod]) {
      const refused = await pod.call('GET', `/sse/${token}`);
      expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await connect(secondPod);
    await first.ended;
    expect(sockets.map(isOpen)).toEqual([true, true, true]);
    last.close();
  });

  test('of twenty streams requested at the same moment on both pods five are opened', async () => {
    const { stream } = await fan();
    const streams = await Promise.all(Array.from({ length: 20 }, (_, index) => stream(index % 2 ? firstPod : secondPod)));
    const statuses = streams.map(({ response }) => response.status).sort();
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(15).fill(429)]);
    // A refused stream makes the pods check their listed connections. All listed connections exist, so the list stays full.
    await pause(300);
    expect((await stream(firstPod)).response.status).toBe(429);
    for (const opened of streams) opened.close();
  });

  test('after a connection has closed, a new one is accepted on every pod, and the session names the newest remaining connection', async () => {
    const { connect, stream, session } = await fan();
    const sockets: FanSocket[] = [];
    for (const pod of [firstPod, firstPod, secondPod, secondPod, firstPod]) sockets.push(await connect(pod));
    const { devices } = await session();
    sockets[4]!.terminate();
    expect(await becomesTrue(async () => (await session()).devices?.length === 4, 1000)).toBe(true);
    expect((await session()).websocket_id).toBe(devices![3]);
    const opened = await stream(secondPod);
    expect(opened.response.status).toBe(200);
    expect(sockets.slice(0, 4).map(isOpen)).toEqual([true, true, true, true]);
    opened.close();
    for (const socket of sockets) socket.terminate();
    expect(await becomesTrue(async () => (await session()).devices === undefined, 1000)).toBe(true);
    expect((await session()).websocket_id).toBeNull();
  });

  test('the connections of a pod that has shut down do not count towards the limit', async () => {
    const { connect, stream } = await fan();
    const leaving = await serviceFixture({ REDIS_URL: redisUrl() });
    const sockets: FanSocket[] = [];
    for (let device = 0; device < 5; device += 1) sockets.push(await connect(leaving));
    sockets[0]!.terminate();
    await leaving.stop();
    expect((await sockets[4]!.ended).code).toBe(4000);
    const opened = await stream(firstPod);
    expect(opened.response.status).toBe(200);
    opened.close();
    await leaving.close();
  });
});

describe('the limit of five connections after failures', () => {
  const DEAD = ['dead-1', 'dead-2', 'dead-3', 'dead-4', 'dead-5'];

  test('connections of a killed pod count towards the limit only until the pod has sent no heartbeat for 5 s', async () => {
    const { matchId, stream, writeDevices } = await fan();
    await writeDevices(DEAD);
    await firstPod.redis.zadd(queueKeys.podBeats(matchId), Date.now() - 4000, 'dead-');
    expect((await stream(firstPod)).response.status).toBe(429);
    const opened: FanStream[] = [];
    expect(
      await becomesTrue(async () => opened.unshift(await stream(firstPod)) > 0 && opened[0]!.response.status === 200, 3000),
    ).toBe(true);
    opened[0]!.close();
  });

  test('connections of a killed pod are replaced before open connections, even if the open ones are older', async () => {
    const { matchId, connect, session, writeDevices } = await fan();
    const sockets = [await connect(firstPod), await connect(secondPod)];
    await writeDevices([...(await session()).devices!, ...DEAD.slice(0, 3)]);
    await firstPod.redis.zadd(queueKeys.podBeats(matchId), Date.now() - 6000, 'dead-');
    for (const pod of [firstPod, secondPod, firstPod]) sockets.push(await connect(pod));
    await pause(200);
    expect(sockets.map(isOpen)).toEqual([true, true, true, true, true]);
    expect((await session()).devices).toHaveLength(5);
  });

  test('listed connections that no longer exist are removed after a stream was refused because of them', async () => {
    const { connect, stream, session, writeDevices } = await fan();
    await connect(firstPod);
    const [id] = (await session()).devices!;
    const pod = id!.split('-')[0]!;
    await writeDevices([`${pod}-9000001`, `${pod}-9000002`, `${pod}-9000003`, `${pod}-9000004`, id!]);
    expect((await stream(secondPod)).response.status).toBe(429);
    expect(await becomesTrue(async () => (await session()).devices?.length === 1, 1000)).toBe(true);
    const opened = await stream(secondPod);
    expect(opened.response.status).toBe(200);
    opened.close();
  });

  test('when the publication about a replaced connection is lost, the pod closes the connection after its next heartbeat', async () => {
    const { matchId, user, connect, session } = await fan();
    const socket = await connect(secondPod);
    const [id] = (await session()).devices!;
    await firstPod.redis.sadd(queueKeys.replaced(matchId), `${user} ${id}`);
    expect((await socket.ended).code).toBe(4507);
    const newer = await connect(secondPod);
    // Redis keeps the replaced connection until the pod has reported that it is closed.
    expect(await becomesTrue(async () => (await firstPod.redis.exists(queueKeys.replaced(matchId))) === 0, 2500)).toBe(true);
    expect(isOpen(newer)).toBe(true);
  });

  test('a running pod sends a heartbeat every second', async () => {
    const { matchId, connect, session } = await fan();
    await connect(firstPod);
    const pod = (await session()).devices![0]!.replace(/-.*/, '-');
    const lastHeartbeat = async () => Number(await firstPod.redis.zscore(queueKeys.podBeats(matchId), pod));
    const first = await lastHeartbeat();
    expect(await becomesTrue(async () => (await lastHeartbeat()) > first, 1500)).toBe(true);
  });
});

function redisUrl(): string {
  const { host, port, db } = firstPod.redis.options;
  return `redis://${host}:${port}/${db}`;
}
