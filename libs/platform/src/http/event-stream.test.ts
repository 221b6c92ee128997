import { EventStreamReader } from '#testing/event-stream-reader';
import { fastify, type FastifyInstance } from 'fastify';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { EventStream } from './event-stream.ts';

let app: FastifyInstance;
let port: number;
const open = new Set<EventStream>();

beforeAll(async () => {
  app = fastify();
  app.get('/stream', async (request, reply) => {
    await pause((request.query as { after?: number }).after ?? 0);
    void reply.header('x-from-a-hook', 'yes');
    const stream = EventStream.open(request, reply, (closed) => void open.delete(closed));
    if (stream) open.add(stream);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});
afterAll(() => app.close());

const read = () => EventStreamReader.open<{ type: string }>(`http://127.0.0.1:${port}/stream`);
async function until(holds: () => boolean): Promise<void> {
  for (const giveUpAt = Date.now() + 3000; !holds() && Date.now() < giveUpAt; await pause(5));
}

test('EventStream: sends the headers that hooks have set, then events and heartbeats, and at the end a retry time', async () => {
  const reader = await read();
  await until(() => open.size === 1);
  const [stream] = open;
  stream?.send('{"type":"change"}');
  stream?.sendHeartbeat();
  stream?.end(1234);
  await reader.ended;
  expect(reader.text).toBe('retry: 3000\n\ndata: {"type":"change"}\n\n:\n\nretry: 1234\n\n');
  expect([reader.response.headers.get('content-type'), reader.response.headers.get('x-from-a-hook')]).toEqual([
    'text/event-stream',
    'yes',
  ]);
  await until(() => open.size === 0);
  expect(open.size).toBe(0);
  stream?.send('too late');
});

test('EventStream: a client that disconnects before the stream opens leaves no open stream', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /stream?after=100 HTTP/1.1\r\nHost: x\r\n\r\n');
  await pause(30);
  socket.resetAndDestroy();
  await pause(150);
  expect(open.size).toBe(0);
});

test('EventStream: a HEAD request is answered and opens no stream', async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/stream`, { method: 'HEAD' });
  expect([answer.status, open.size]).toEqual([200, 0]);
});

test('EventStream: a reader with too many unsent bytes is disconnected, and a reader that keeps up gets all messages', async () => {
  const pausedSocket = connect(port, '127.0.0.1');
  pausedSocket.on('error', () => undefined).pause();
  pausedSocket.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => open.size === 1);
  const [pausedStream] = open;
  const reader = await read();
  await until(() => open.size === 2);
  let sent = 0;
  // The kernel buffers some megabytes for the client that does not read, so many messages are needed.
  for (; sent < 2000 && pausedStream && open.has(pausedStream); sent += 1) {
    for (const stream of open) stream.send(JSON.stringify({ type: 'change', text: 'x'.repeat(12_000) }));
    await pause(1);
  }
  expect([pausedStream && open.has(pausedStream), open.size]).toEqual([false, 1]);
  await until(() => reader.text.length > sent * 12_000);
  expect(reader.messages).toHaveLength(sent);
  reader.close();
  pausedSocket.destroy();
});
