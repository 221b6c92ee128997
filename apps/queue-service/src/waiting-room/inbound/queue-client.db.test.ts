import { QueueConnection, type ConnectionEnd, type ClientEnvironment } from '#queue-client/queue-connection';
import type { PositionAnswer, QueueMessage } from '#queue-client/queue-messages';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

let service: ServiceFixture;
beforeAll(async () => (service = await serviceFixture()));
afterAll(() => service.close());

const connections: QueueConnection[] = [];
afterEach(() => connections.splice(0).forEach((connection) => connection.stop()));

/**
 * Connects a QueueConnection to the running service, for a new fan in a new match. Records its messages and the reasons of its
 * end.
 */
async function client(environment: ClientEnvironment = {}) {
  const matchId = await service.match();
  const { user, token } = await service.join(matchId);
  const received: QueueMessage[] = [];
  const ends: ConnectionEnd[] = [];
  const readPosition = async (): Promise<PositionAnswer> => {
    const { status, body } = await service.call('GET', `/api/v1/queue/${matchId}/position`, { user });
    if (status !== 200) throw Object.assign(new Error('no queue entry'), { status });
    return body as unknown as PositionAnswer;
  };
  const line = {
    websocketUrl: `${service.url.replace('http', 'ws')}/ws/${token}`,
    sseUrl: `${service.url}/sse/${token}`,
    readPosition,
  };
  const listener = {
    message: (message: QueueMessage) => received.push(message),
    link: () => undefined,
    over: (end: ConnectionEnd) => ends.push(end),
  };
  const connection = new QueueConnection(line, listener, { random: () => 0.01, ...environment });
  connections.push(connection);
  connection.start();
  const until = async (isTrue: () => boolean) => {
    const deadlineMs = Date.now() + 5000;
    while (!isTrue()) {
      if (Date.now() > deadlineMs) throw new Error(`timeout; received ${JSON.stringify(received)}, ends ${ends.join()}`);
      await pause(10);
    }
  };
  return { matchId, user, received, ends, until };
}

const noSockets: ClientEnvironment = {
  openWebSocket: () => {
    throw new Error('a proxy blocks WebSockets');
  },
};
const noSocketsOrStreams: ClientEnvironment = {
  ...noSockets,
  fetch: () => Promise.reject(new Error('a proxy blocks event streams')),
};

test.each([
  ['over the socket', {}],
  ['over the event stream, when sockets are blocked', noSockets],
])('QueueConnection %s receives position_update, turn_granted and turn_completed', async (_way, environment) => {
  const { matchId, user, received, ends, until } = await client(environment);
  await until(() => received.some(({ type }) => type === 'position_update'));
  expect(received.at(-1)).toMatchObject({ type: 'position_update', position: 1, total: 1 });
  await service.internal('PUT', `/api/v1/queue/${matchId}/control`, { max_open_windows: 1 });
  await until(() => received.at(-1)?.type === 'turn_granted');
  await service.internal('POST', `/api/v1/queue/${matchId}/windows/${user}/complete`);
  await until(() => ends.length > 0);
  expect(received.at(-1)).toEqual({ type: 'turn_completed' });
  expect(ends).toEqual(['ended']);
});

test('QueueConnection receives the position by polling when sockets and streams are blocked', async () => {
  const { received, until } = await client(noSocketsOrStreams);
  await until(() => received.some(({ type }) => type === 'position_update'));
  expect(received.at(-1)).toMatchObject({ type: 'position_update', position: 1, total: 1 });
});

test('QueueConnection reconnects after its socket has closed, and then receives the current position', async () => {
  let sockets = 0;
  const { received, until } = await client({
    openWebSocket: (url) => {
      const socket = new WebSocket(url);
      sockets += 1;
      if (sockets === 1) socket.addEventListener('message', () => socket.close());
      return socket as never;
    },
  });
  await until(() => sockets === 2 && received.length >= 2);
  expect(received.every(({ type }) => type === 'position_update')).toBe(true);
});

test('QueueConnection ends with `left` when the fan leaves the line on another device', async () => {
  const { matchId, user, received, ends, until } = await client();
  await until(() => received.length > 0);
  await service.call('DELETE', `/api/v1/queue/${matchId}`, { user });
  await until(() => ends.length > 0);
  expect(ends).toEqual(['left']);
});

test('QueueConnection ends with `rejoin` (the fan must join again) after Redis has lost all data', async () => {
  const { received, ends, until } = await client();
  await until(() => received.length > 0);
  await service.redis.flushdb();
  await until(() => ends.length > 0);
  expect(ends).toEqual(['rejoin']);
});
