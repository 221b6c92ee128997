import http, { type ServerResponse } from 'node:http';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { answerInTurn } from './answers-in-turn.ts';
import { KernelSendQueues } from './kernel-send-queues.ts';
import { UnreadAnswers } from './unread-answers.ts';

const BODY = 'x'.repeat(8_000_000);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server that answers with 8 MB, more than the kernel takes, and a client that has asked for it and reads nothing. */
async function unreadAnswer(host: string) {
  const answers = new Set<ServerResponse>();
  const server = http.createServer((_request, response) => {
    answers.add(response);
    response.end(BODY);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const client = net.connect((server.address() as net.AddressInfo).port, host);
  client.on('error', () => undefined);
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  while (answers.size === 0) await sleep(10);
  await sleep(300);
  const [answer] = [...answers] as [ServerResponse];
  closing.push(async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { answers, answer, client };
}

test('a client that reads nothing for 30 s is disconnected, not before', async () => {
  const { answers, answer } = await unreadAnswer('127.0.0.1');
  const unread = new UnreadAnswers(answers);
  for (const nowMs of [0, 5000, 29_000]) await unread.check(nowMs);
  expect(answer.socket?.destroyed).toBe(false);
  await unread.check(30_000);
  expect(answer.destroyed || answer.socket?.destroyed).toBe(true);
});

test('a client that reads so little that the kernel takes nothing more from us is not disconnected', async () => {
  const { answers, answer, client } = await unreadAnswer('127.0.0.1');
  const unread = new UnreadAnswers(answers);
  const taken = () => answer.socket!.bytesWritten - answer.socket!.writableLength;
  await unread.check(0);
  const before = taken();
  for (let at = 1; at <= 3; at += 1) {
    for (let read = 0; read < 200_000;) {
      read += ((client.read() as Buffer | null)?.length ?? 0) + 1;
      await sleep(2);
    }
    await sleep(50);
    await unread.check(at * 29_000);
    expect(answer.socket?.destroyed).toBe(false);
  }
  expect(taken()).toBe(before);
  // Negative control: without the kernel's queue the client seems to read nothing.
  const blind = new UnreadAnswers(answers, () => Promise.resolve({ of: () => undefined }));
  await blind.check(0);
  await blind.check(30_000);
  expect(answer.destroyed || answer.socket?.destroyed).toBe(true);
});

test.each(['127.0.0.1', '::1'])(
  'the queue in the kernel of a connection from %s is what the client has not taken',
  async (host) => {
    const { answer } = await unreadAnswer(host);
    const queued = (await KernelSendQueues.read()).of(answer.socket!);
    expect(queued).toBeGreaterThan(10_000);
    expect(queued).toBeLessThanOrEqual(BODY.length + 1000);
  },
);

test('requests of one connection run one after another; more than a hundred behind an unanswered one close the connection', async () => {
  const fastify = Fastify();
  closing.push(() => fastify.close());
  let running = 0;
  let most = 0;
  fastify.get('/', async () => {
    most = Math.max(most, (running += 1));
    await sleep(1);
    running -= 1;
    return 'ok';
  });
  const answers = answerInTurn(fastify);
  await fastify.listen({ host: '127.0.0.1', port: 0 });
  const ask = async (requests: number): Promise<number> => {
    const client = net.connect((fastify.server.address() as net.AddressInfo).port, '127.0.0.1');
    let text = '';
    client.on('data', (bytes) => (text += bytes.toString()));
    client.on('error', () => undefined);
    const closed = once(client, 'close');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests));
    const answered = (): number => text.split('HTTP/1.1 200').length - 1;
    const until = Date.now() + 20_000;
    while (!client.closed && answered() < requests && Date.now() < until) await Promise.race([closed, sleep(20)]);
    client.destroy();
    return answered();
  };
  expect([await ask(101), most]).toEqual([101, 1]);
  expect(await ask(500)).toBeLessThan(100);
  await sleep(50);
  expect(answers.size).toBe(0);
});
