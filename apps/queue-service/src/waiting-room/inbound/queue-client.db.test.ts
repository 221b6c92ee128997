import { QueueConnection, type ConnectionEnd, type Surroundings } from '#queue-client/queue-connection';
import type { PositionAnswer, QueueMessage } from '#queue-client/queue-messages';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

let service: ServiceFixture;
beforeAll(async () => (service = await serviceFixture()));
afterAll(() => service.close());

const connections: QueueConnection[] = [];
afterEach(() => connections.splice(0).forEach((connection) => connection.stop()));

/** The client as the page and the crowd use it, against the running service. */
async function client(surroundings: Surroundings = {}) {
  const matchId = await service.match();
  const { user, token } = await service.join(matchId);
  const heard: QueueMessage[] = [];
  const ends: ConnectionEnd[] = [];
  const readPosition = async (): Promise<PositionAnswer> => {
    const { status, body } = await service.call('GET', `/api/v1/queue/${matchId}/position`, { user });
    if (status !== 200) throw Object.assign(new Error('no place'), { status });
    return body as unknown as PositionAnswer;
  };
  const line = {
    websocketUrl: `${service.url.replace('http', 'ws')}/ws/${token}`,
    sseUrl: `${service.url}/sse/${token}`,
    readPosition,
  };
  const listener = {
    message: (message: QueueMessage) => heard.push(message),
    link: () => undefined,
    over: (why: ConnectionEnd) => ends.push(why),
  };
  const connection = new QueueConnection(line, listener, { random: () => 0.01, ...surroundings });
  connections.push(connection);
  connection.start();
  const until = async (isSo: () => boolean) => {
    const giveUpAt = Date.now() + 5000;
    while (!isSo()) {
      if (Date.now() > giveUpAt) throw new Error(`not in time; heard ${JSON.stringify(heard)}, ends ${ends.join()}`);
      await pause(10);
    }
  };
  return { matchId, user, heard, ends, until };
}

const noSockets: Surroundings = {
  openWebSocket: () => {
    throw new Error('a proxy eats WebSockets');
  },
};
const neither: Surroundings = {
  ...noSockets,
  fetch: () => Promise.reject(new Error('and streams')),
};

test.each([
  ['over the socket', {}],
  ['over the stream, where sockets do not get through', noSockets],
])('%s: entry, turn and completion', async (_way, surroundings) => {
  const { matchId, user, heard, ends, until } = await client(surroundings);
  await until(() => heard.some(({ type }) => type === 'position_update'));
  expect(heard.at(-1)).toMatchObject({ type: 'position_update', position: 1, total: 1 });
  await service.internal('PUT', `/api/v1/queue/${matchId}/control`, { max_open_windows: 1 });
  await until(() => heard.at(-1)?.type === 'turn_granted');
  await service.internal('POST', `/api/v1/queue/${matchId}/windows/${user}/complete`);
  await until(() => ends.length > 0);
  expect(heard.at(-1)).toEqual({ type: 'turn_completed' });
  expect(ends).toEqual(['ended']);
});

test('by polling, where neither gets through: the place', async () => {
  const { heard, until } = await client(neither);
  await until(() => heard.some(({ type }) => type === 'position_update'));
  expect(heard.at(-1)).toMatchObject({ type: 'position_update', position: 1, total: 1 });
});

test('it comes back by itself after its connection is broken, and hears the present state', async () => {
  let sockets = 0;
  const { heard, until } = await client({
    openWebSocket: (url) => {
      const socket = new WebSocket(url);
      sockets += 1;
      if (sockets === 1) socket.addEventListener('message', () => socket.close());
      return socket as never;
    },
  });
  await until(() => sockets === 2 && heard.length >= 2);
  expect(heard.every(({ type }) => type === 'position_update')).toBe(true);
});

test('left on another device: it ends, and says so', async () => {
  const { matchId, user, heard, ends, until } = await client();
  await until(() => heard.length > 0);
  await service.call('DELETE', `/api/v1/queue/${matchId}`, { user });
  await until(() => ends.length > 0);
  expect(ends).toEqual(['left']);
});

test('after a loss of Redis it is told to join again', async () => {
  const { heard, ends, until } = await client();
  await until(() => heard.length > 0);
  await service.redis.flushdb();
  await until(() => ends.length > 0);
  expect(ends).toEqual(['rejoin']);
});
