import { jest } from '@jest/globals';
import { QueueConnection, type ConnectionEnd, type ConnectionState } from './queue-connection.ts';
import type { PositionAnswer, QueueMessage } from './queue-messages.ts';
import type { SocketLike } from './transports.ts';

class FakeSocket implements SocketLike {
  readyState = 1;
  onmessage: SocketLike['onmessage'] = null;
  onclose: SocketLike['onclose'] = null;
  onerror: SocketLike['onerror'] = null;
  readonly sent: string[] = [];
  isClosed = false;
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.isClosed = true;
  }
  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  end(code: number, reason = ''): void {
    this.onclose?.({ code, reason });
  }
}

const waiting: PositionAnswer = { status: 'waiting', position: 3, total: 9, estimated_wait_minutes: 1 };
const update = { type: 'position_update', position: 4, total: 9, estimated_wait_minutes: 1 };

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A QueueConnection with fake sockets, streams and polls. `random` returns 1, the longest jitter. */
function setUp(answers: { position?: () => Promise<PositionAnswer>; stream?: () => Promise<Response> } = {}) {
  const sockets: FakeSocket[] = [];
  const received: QueueMessage[] = [];
  const links: ConnectionState[] = [];
  const ends: ConnectionEnd[] = [];
  let wake = () => undefined as void;
  const connection = new QueueConnection(
    { websocketUrl: 'ws://x/ws/t', sseUrl: 'http://x/sse/t', readPosition: answers.position ?? (() => Promise.resolve(waiting)) },
    { message: (message) => received.push(message), link: (link) => links.push(link), over: (end) => ends.push(end) },
    {
      openWebSocket: () => {
        sockets.push(new FakeSocket());
        return sockets.at(-1)!;
      },
      fetch: (answers.stream ?? (() => Promise.reject(new Error('no event streams')))) as typeof fetch,
      random: () => 1,
      onWake: (callback) => {
        wake = callback;
        return () => (wake = () => undefined);
      },
    },
  );
  connection.start();
  return { connection, sockets, received, links, ends, wake: () => wake() };
}

test('QueueConnection: messages of known types reach the listener; unknown types and invalid JSON are ignored', () => {
  const { sockets, received, links } = setUp();
  sockets[0]!.say(update);
  sockets[0]!.say({ type: 'fireworks' });
  sockets[0]!.onmessage?.({ data: 'no JSON' });
  expect(received).toEqual([update]);
  expect(links).toEqual(['connecting', 'live']);
});

test.each([
  ['a lost connection (1006)', 1006, '', 2000],
  ['a draining pod (4000) that asks for a delay', 4000, '{"retry_after_ms":7000}', 9000],
  ['4000 with a reason that is not JSON', 4000, 'later', 2000],
  ['a server restart (1012)', 1012, '', 2000],
])('QueueConnection: after %s it reconnects after %4$i ms', async (_what, code, reason, afterMs) => {
  const { sockets, links, ends } = setUp();
  sockets[0]!.say(update);
  sockets[0]!.end(code, reason);
  expect(links.at(-1)).toBe('resting');
  await jest.advanceTimersByTimeAsync(afterMs - 1);
  expect(sockets).toHaveLength(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(sockets).toHaveLength(2);
  expect(ends).toEqual([]);
});

test.each([
  [4501, 'rejoin'],
  [4502, 'refused'],
  [4504, 'refused'],
  [4505, 'left'],
  [4507, 'replaced'],
  [1009, 'refused'],
] as const)('QueueConnection: after close code %i it does not reconnect and ends with `%s`', async (code, why) => {
  const { sockets, ends } = setUp();
  sockets[0]!.end(code);
  await jest.advanceTimersByTimeAsync(120_000);
  expect(ends).toEqual([why]);
  expect(sockets).toHaveLength(1);
});

test('QueueConnection: after close code 4506 without a final message it polls the position and reports how the queue entry ended', async () => {
  const { sockets, received, ends } = setUp({
    position: () => Promise.resolve({ ...waiting, status: 'closed', reason: 'sold_out' }),
  });
  sockets[0]!.end(4506);
  await jest.advanceTimersByTimeAsync(0);
  expect(received).toEqual([{ type: 'queue_closed', reason: 'sold_out' }]);
  expect(ends).toEqual(['ended']);
});

test('QueueConnection: it ends with the final message, and a close code after that message has no effect', () => {
  const { sockets, ends } = setUp();
  sockets[0]!.say({ type: 'turn_completed' });
  sockets[0]!.end(4506);
  expect(ends).toEqual(['ended']);
  expect(sockets[0]!.isClosed).toBe(true);
});

test('QueueConnection: it sends a heartbeat every minute, and treats a socket that is silent for 75 seconds as lost', async () => {
  const { sockets, links } = setUp();
  sockets[0]!.say(update);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(sockets[0]!.sent).toEqual(['{"type":"heartbeat"}']);
  sockets[0]!.say({ type: 'heartbeat_ack' });
  await jest.advanceTimersByTimeAsync(74_000);
  expect(links.at(-1)).toBe('live');
  await jest.advanceTimersByTimeAsync(1000);
  expect([links.at(-1), sockets[0]!.isClosed]).toEqual(['resting', true]);
});

test('QueueConnection: after three failed sockets it uses the event stream, after three failed streams polling, and two minutes later it tries a socket', async () => {
  const streams: number[] = [];
  const { sockets, received, links } = setUp({
    stream: () => {
      streams.push(Date.now());
      return Promise.reject(new Error('refused'));
    },
  });
  for (let failure = 0; failure < 3; failure += 1) {
    sockets.at(-1)!.end(1006);
    await jest.advanceTimersByTimeAsync(5000);
  }
  expect(sockets).toHaveLength(3);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(streams.length).toBe(3);
  expect(received.at(-1)).toMatchObject({ type: 'position_update', position: 3 });
  expect(links.at(-1)).toBe('live');
  await jest.advanceTimersByTimeAsync(120_000);
  expect(sockets).toHaveLength(4);
});

test('QueueConnection: after a 503 on the event stream it waits for the time of Retry-After', async () => {
  const asked: number[] = [];
  const { sockets } = setUp({
    stream: () => {
      asked.push(Date.now());
      return Promise.resolve(new Response('', { status: 503, headers: { 'retry-after': '5' } }));
    },
  });
  for (let failure = 0; failure < 3; failure += 1) {
    sockets.at(-1)!.end(1006);
    await jest.advanceTimersByTimeAsync(4000);
  }
  expect(asked).toHaveLength(1);
  await jest.advanceTimersByTimeAsync(7000);
  expect(asked).toHaveLength(2);
  expect(asked[1]! - asked[0]!).toBe(7000);
});

test('QueueConnection: when a poll is answered with 404, the connection ends with `rejoin` (the fan must join again)', async () => {
  const { sockets, ends } = setUp({ position: () => Promise.reject(Object.assign(new Error('gone'), { status: 404 })) });
  sockets[0]!.end(4506);
  await jest.advanceTimersByTimeAsync(0);
  expect(ends).toEqual(['rejoin']);
});

test('QueueConnection: when the phone wakes up, it reconnects at once if it has no connection, or else sends a heartbeat', async () => {
  const { sockets, wake, links } = setUp();
  sockets[0]!.end(1006);
  wake();
  expect(sockets).toHaveLength(2);
  sockets[1]!.say(update);
  wake();
  expect(sockets[1]!.sent).toEqual(['{"type":"heartbeat"}']);
  await jest.advanceTimersByTimeAsync(8000);
  expect(links.at(-1)).toBe('resting');
});

test('QueueConnection: after stop it does not reconnect and reports no end', async () => {
  const { connection, sockets, ends } = setUp();
  sockets[0]!.end(1006);
  connection.stop();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(sockets).toHaveLength(1);
  expect(ends).toEqual([]);
});
