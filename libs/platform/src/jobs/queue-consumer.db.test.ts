import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Queue, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createLogger } from '../logging/logger.ts';
import { connectRedis } from '../redis/redis-connection.ts';
import { notificationJobOptions } from './job-policy.ts';
import { QueueConsumer, type ConsumerOptions, type DeadLetter } from './queue-consumer.ts';
import { QueueSizes } from './queue-sizes.ts';

const schema = z.object({ template: z.string(), n: z.int() });
type Message = z.output<typeof schema>;
const PREFIX = '{test}';

let testRedis: TestRedis;
let connection: Redis;
let queue: Queue;
let dead: DeadLetter[];
let running: QueueConsumer<Message>[];

beforeAll(async () => {
  testRedis = await createTestRedis();
  connection = new Redis(testRedis.url, { maxRetriesPerRequest: null });
  queue = new Queue('work', { connection, prefix: PREFIX });
});

beforeEach(() => {
  dead = [];
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((consumer) => consumer.stop(0)));
  await queue.obliterate({ force: true });
});

afterAll(async () => {
  await queue.close();
  await connection.quit();
  await testRedis.close();
});

function consume(
  handle: (message: Message) => Promise<string>,
  changes: Partial<ConsumerOptions<Message>> = {},
): QueueConsumer<Message> {
  const consumer = new QueueConsumer<Message>({
    queue: 'work',
    prefix: PREFIX,
    connection,
    schema,
    concurrency: 2,
    retrySeconds: [30, 300],
    logger: createLogger({ service: 'test', level: 'silent' }),
    handle,
    onDeadLetter: (letter) => dead.push(letter),
    isOutage: (error) => error instanceof Error && error.message === 'database away',
    ...changes,
  });
  consumer.start();
  running.push(consumer);
  return consumer;
}

const add = (id: string, data: unknown = { template: 't', n: 1 }): Promise<Job> =>
  queue.add('t', data, notificationJobOptions(id));

async function until(ask: () => Promise<boolean> | boolean, withinMs = 10_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await ask())) {
    if (Date.now() > giveUpAt) throw new Error(`It did not happen within ${withinMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const inState = (job: Job, state: string, withinMs?: number): Promise<void> =>
  until(async () => (await job.getState()) === state, withinMs);

/** A handler that stays in the middle of its work until it is let go. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

test('a message is handled and the answer is kept with the job', async () => {
  consume(async ({ n }) => `handled ${n}`);
  const job = await add('m1', { template: 't', n: 7 });
  await inState(job, 'completed');
  expect((await queue.getJob('m1'))?.returnvalue).toBe('handled 7');
});

test('three sends with the delays of the setting between them, then the dead letter, told once', async () => {
  let sends = 0;
  consume(() => Promise.reject(new Error(`send ${(sends += 1)} failed`)));
  const job = await add('m1');
  const delays: (number | undefined)[] = [];
  for (const made of [1, 2]) {
    await until(async () => (await queue.getJob('m1'))?.attemptsMade === made);
    const delayed = await queue.getJob('m1');
    delays.push(delayed?.delay);
    expect(dead).toEqual([]);
    await delayed?.promote();
  }
  await inState(job, 'failed');
  await until(() => dead.length > 0);
  expect([sends, delays]).toEqual([3, [30_000, 300_000]]);
  expect(dead).toMatchObject([{ jobId: 'm1', template: 't', error: { message: 'send 3 failed' } }]);
});

test('an outage of ours costs no attempt: the queue rests, all goes back, and afterwards all is done', async () => {
  let away = true;
  let tries = 0;
  const send = (): Promise<string> => {
    tries += 1;
    return away ? Promise.reject(new Error('database away')) : Promise.resolve('sent');
  };
  consume(send, { restMs: 300 });
  const jobs = await Promise.all(Array.from({ length: 50 }, (_, index) => add(`m${index}`)));
  await until(() => tries >= 6);
  const triesWhileAway = tries;
  away = false;
  for (const job of jobs) await inState(job, 'completed');
  // Two hands, three rests or so: not fifty jobs taken and put back over and over.
  expect(triesWhileAway).toBeLessThanOrEqual(10);
  expect(new Set((await queue.getCompleted()).map(({ attemptsMade }) => attemptsMade))).toEqual(new Set([1]));
  expect(dead).toEqual([]);
});

/** A job whose handing over was swallowed comes back when its lock has run out: 10 s + 2 × 5 s. It may be swallowed twice. */
const TWICE_LOCK_AND_CHECKS_MS = 50_000;

test('a connection that breaks with answers on their way costs no hand, and the consumer still stops', async () => {
  const proxy = await swallowingProxy(Number(new URL(testRedis.url).port));
  const through = connectRedis(`redis://127.0.0.1:${proxy.port}`, { name: 'broken', forJobs: true });
  const handle = (): Promise<string> => {
    proxy.swallow();
    return Promise.resolve('handled');
  };
  const consumer = consume(handle, { connection: through, concurrency: 1 });
  for (const id of ['m1', 'm2', 'm3']) {
    // Redis has noted that it is done; the consumer never hears of it.
    await inState(await add(id), 'completed', TWICE_LOCK_AND_CHECKS_MS);
    proxy.cut();
  }
  await consumer.stop(1000);
  through.disconnect();
  await proxy.close();
}, 170_000);

test('connections on which nothing is heard any more are given up for new ones; who waits for work for as long as BullMQ does keeps its own', async () => {
  const proxy = await TcpProxy.inFrontOf(testRedis.url);
  const through = connectRedis(proxy.url, { name: 'vanished', forJobs: true });
  const patient = connectRedis(testRedis.url, { name: 'patient', forJobs: true });
  let broken = 0;
  patient.on('close', () => (broken += 1));
  try {
    const waits = patient.bzpopmin('nothing', 10).then(() => patient.bzpopmin('nothing', 10));
    const consumer = consume(() => Promise.resolve('handled'), { connection: through, concurrency: 1 });
    await inState(await add('before'), 'completed');
    proxy.silence();
    const after = await add('after');
    // Only new connections work again, as when another machine has taken the address.
    proxy.restore();
    await inState(after, 'completed', 40_000);
    await consumer.stop(1000);
    await waits;
    expect(broken).toBe(0);
  } finally {
    through.disconnect();
    patient.disconnect();
    await proxy.close();
  }
}, 60_000);

test('an unreadable message is in the dead letter at once, and its text stands nowhere', async () => {
  let handled = 0;
  consume(() => Promise.resolve(`handled ${(handled += 1)}`));
  const job = await add('m1', { template: 't', n: 'somebody@example.com' });
  await inState(job, 'failed');
  const failed = await queue.getJob('m1');
  expect([handled, failed?.attemptsMade, failed?.failedReason]).toEqual([0, 1, 'unreadable: n invalid_type']);
  await until(() => dead.length === 1);
});

test('a stopping consumer finishes what it holds and takes nothing more', async () => {
  const { passed, open } = gate();
  const consumer = consume(() => passed.then(() => 'done'), { concurrency: 1 });
  const [held, waiting] = [await add('held'), await add('waiting')];
  await inState(held, 'active');
  const stopped = consumer.stop(10_000);
  open();
  await stopped;
  expect([await held.getState(), await waiting.getState()]).toEqual(['completed', 'waiting']);
});

test('what a stopping consumer cannot finish in time goes back whole, and another one does it', async () => {
  const { passed, open } = gate();
  const consumer = consume(() => passed.then(() => 'late'));
  const job = await add('m1');
  await inState(job, 'active');
  await consumer.stop(50);
  expect(await job.getState()).toBe('waiting');
  expect((await queue.getJob('m1'))?.attemptsMade).toBe(0);
  consume(() => Promise.resolve('by another'));
  await inState(job, 'completed');
  expect((await queue.getJob('m1'))?.returnvalue).toBe('by another');
  open();
});

test('a consumer that stops before it started is no trouble', async () => {
  const consumer = new QueueConsumer<Message>({
    queue: 'work',
    prefix: PREFIX,
    connection,
    schema,
    concurrency: 1,
    retrySeconds: [1, 1],
    logger: createLogger({ service: 'test', level: 'silent' }),
    handle: () => Promise.resolve(''),
    onDeadLetter: () => undefined,
    isOutage: () => false,
  });
  await consumer.stop(1000);
  consumer.start();
  const job = await add('m1');
  expect(await job.getState()).toBe('waiting');
});

test('the size of a queue counts what waits and what is delayed, and is the last known one without Redis', async () => {
  const own = new Redis(testRedis.url, { maxRetriesPerRequest: 1, enableOfflineQueue: false, lazyConnect: true });
  await own.connect();
  const sizes = new QueueSizes(own, PREFIX, ['work', 'other']);
  await add('m1');
  await queue.add('t', {}, { delay: 60_000 });
  expect(await sizes.unsent()).toBe(2);
  own.disconnect();
  expect(await sizes.unsent()).toBe(2);
  await sizes.beforeApplicationShutdown();
});

/** Stands before Redis; can keep answers to itself, as a network does in the moment it breaks. */
async function swallowingProxy(target: number): Promise<{ port: number; swallow(): void; cut(): void; close(): Promise<void> }> {
  const sockets = new Set<net.Socket>();
  let swallowing = false;
  const server = net.createServer((client) => {
    const redis = net.connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => other.destroy());
    }
    client.on('data', (bytes) => redis.write(bytes));
    redis.on('data', (bytes) => swallowing || client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    swallowing = false;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => void (swallowing = true),
    cut,
    close: () => new Promise((resolve) => (cut(), server.close(() => resolve()))),
  };
}
