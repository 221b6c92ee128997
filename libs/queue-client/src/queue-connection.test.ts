import { jest } from '@jest/globals';
import { QueueConnection, type ConnectionEnd, type Link } from './queue-connection.ts';
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

/** A connection whose surroundings the test plays; `random` is as late as jitter can be. */
function stage(answers: { place?: () => Promise<PositionAnswer>; stream?: () => Promise<Response> } = {}) {
  const sockets: FakeSocket[] = [];
  const heard: QueueMessage[] = [];
  const links: Link[] = [];
  const ends: ConnectionEnd[] = [];
  let wake = () => undefined as void;
  const connection = new QueueConnection(
    { websocketUrl: 'ws://x/ws/t', sseUrl: 'http://x/sse/t', readPosition: answers.place ?? (() => Promise.resolve(waiting)) },
    { message: (message) => heard.push(message), link: (link) => links.push(link), over: (why) => ends.push(why) },
    {
      openWebSocket: () => {
        sockets.push(new FakeSocket());
        return sockets.at(-1)!;
      },
      fetch: (answers.stream ?? (() => Promise.reject(new Error('no streams here')))) as typeof fetch,
      random: () => 1,
      onWake: (callback) => {
        wake = callback;
        return () => (wake = () => undefined);
      },
    },
  );
  connection.start();
  return { connection, sockets, heard, links, ends, wake: () => wake() };
}

test('messages come through, and what this version does not know is passed over', () => {
  const { sockets, heard, links } = stage();
  sockets[0]!.say(update);
  sockets[0]!.say({ type: 'fireworks' });
  sockets[0]!.onmessage?.({ data: 'no JSON' });
  expect(heard).toEqual([update]);
  expect(links).toEqual(['connecting', 'live']);
});

test.each([
  ['a lost network', 1006, '', 2000],
  ['a draining pod, at the time it names and then some', 4000, '{"retry_after_ms":7000}', 9000],
  ['a reason that is no JSON', 4000, 'later', 2000],
  ['a restart', 1012, '', 2000],
])('after %s it comes back', async (_what, code, reason, afterMs) => {
  const { sockets, links, ends } = stage();
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
] as const)('after %i it does not: %s', async (code, why) => {
  const { sockets, ends } = stage();
  sockets[0]!.end(code);
  await jest.advanceTimersByTimeAsync(120_000);
  expect(ends).toEqual([why]);
  expect(sockets).toHaveLength(1);
});

test('after 4506 without a last word it asks for the place how it ended', async () => {
  const { sockets, heard, ends } = stage({ place: () => Promise.resolve({ ...waiting, status: 'closed', reason: 'sold_out' }) });
  sockets[0]!.end(4506);
  await jest.advanceTimersByTimeAsync(0);
  expect(heard).toEqual([{ type: 'queue_closed', reason: 'sold_out' }]);
  expect(ends).toEqual(['ended']);
});

test('the last word ends it, whatever comes after', () => {
  const { sockets, ends } = stage();
  sockets[0]!.say({ type: 'turn_completed' });
  sockets[0]!.end(4506);
  expect(ends).toEqual(['ended']);
  expect(sockets[0]!.isClosed).toBe(true);
});

test('it sends a heartbeat a minute, and takes a socket silent for 75 seconds for lost', async () => {
  const { sockets, links } = stage();
  sockets[0]!.say(update);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(sockets[0]!.sent).toEqual(['{"type":"heartbeat"}']);
  sockets[0]!.say({ type: 'heartbeat_ack' });
  await jest.advanceTimersByTimeAsync(74_000);
  expect(links.at(-1)).toBe('live');
  await jest.advanceTimersByTimeAsync(1000);
  expect([links.at(-1), sockets[0]!.isClosed]).toEqual(['resting', true]);
});

test('where sockets do not get through: after three failures the stream, after three more polling, and the socket again later', async () => {
  const streams: number[] = [];
  const { sockets, heard, links } = stage({
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
  expect(heard.at(-1)).toMatchObject({ type: 'position_update', position: 3 });
  expect(links.at(-1)).toBe('live');
  await jest.advanceTimersByTimeAsync(120_000);
  expect(sockets).toHaveLength(4);
});

test('a pod that is full names its time on the stream', async () => {
  const asked: number[] = [];
  const { sockets } = stage({
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

test('polling that finds no place means: join again', async () => {
  const { sockets, ends } = stage({ place: () => Promise.reject(Object.assign(new Error('gone'), { status: 404 })) });
  sockets[0]!.end(4506);
  await jest.advanceTimersByTimeAsync(0);
  expect(ends).toEqual(['rejoin']);
});

test('waking up ends a rest at once, and asks a live socket for a sign of life', async () => {
  const { sockets, wake, links } = stage();
  sockets[0]!.end(1006);
  wake();
  expect(sockets).toHaveLength(2);
  sockets[1]!.say(update);
  wake();
  expect(sockets[1]!.sent).toEqual(['{"type":"heartbeat"}']);
  await jest.advanceTimersByTimeAsync(8000);
  expect(links.at(-1)).toBe('resting');
});

test('stopped, it does nothing more', async () => {
  const { connection, sockets, ends } = stage();
  sockets[0]!.end(1006);
  connection.stop();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(sockets).toHaveLength(1);
  expect(ends).toEqual([]);
});
