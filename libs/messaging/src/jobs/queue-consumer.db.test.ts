import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Queue, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { createLogger } from '#platform/logging/logger';
import { registerGauges } from '#platform/health/gauges';
import { connectRedis } from '#platform/redis/redis-connection';
import { notificationJobOptions } from './job-policy.ts';
import { QueueConsumer, type ConsumerOptions, type DeadLetter } from './queue-consumer.ts';
import { UnsentJobs } from './unsent-jobs.ts';
import { openLatch } from './testing/latch.ts';

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
    isOutage: (error) => error instanceof Error && error.message === 'database unavailable',
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

test('a message is handled, and the return value of the handler is stored with the job', async () => {
  consume(async ({ n }) => `handled ${n}`);
  const job = await add('m1', { template: 't', n: 7 });
  await inState(job, 'completed');
  expect((await queue.getJob('m1'))?.returnvalue).toBe('handled 7');
});

test('a job that always fails gets three attempts with the configured delays, then one dead letter', async () => {
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

test('during a database outage the queue pauses and its jobs go back to it without losing an attempt; after the outage the jobs are done', async () => {
  let isDatabaseDown = true;
  let tries = 0;
  const send = (): Promise<string> => {
    tries += 1;
    return isDatabaseDown ? Promise.reject(new Error('database unavailable')) : Promise.resolve('sent');
  };
  consume(send, { pauseMs: 300 });
  const jobs = await Promise.all(Array.from({ length: 50 }, (_, index) => add(`m${index}`)));
  await until(() => tries >= 6);
  const triesDuringOutage = tries;
  isDatabaseDown = false;
  for (const job of jobs) await inState(job, 'completed');
  // The consumer does two jobs at a time and has paused about three times, so it has not taken and put back all fifty jobs.
  expect(triesDuringOutage).toBeLessThanOrEqual(10);
  expect(new Set((await queue.getCompleted()).map(({ attemptsMade }) => attemptsMade))).toEqual(new Set([1]));
  expect(dead).toEqual([]);
});

/**
 * Timeout of one job in the test below. A job whose delivery to the worker was lost is delivered again after its lock expires: 10
 * s + 2 × 5 s. The delivery may be lost twice.
 */
const TWICE_LOCK_AND_CHECKS_MS = 50_000;

test('when its connection to Redis breaks three times before an answer arrives, the consumer still takes every job and can be stopped', async () => {
  const proxy = await answerDroppingProxy(Number(new URL(testRedis.url).port));
  const through = connectRedis(`redis://127.0.0.1:${proxy.port}`, { name: 'broken', forJobs: true });
  const handle = (): Promise<string> => {
    proxy.dropAnswers();
    return Promise.resolve('handled');
  };
  const consumer = consume(handle, { connection: through, concurrency: 1 });
  for (const id of ['m1', 'm2', 'm3']) {
    // Redis has stored the job as completed, but the answer never reaches the consumer.
    await inState(await add(id), 'completed', TWICE_LOCK_AND_CHECKS_MS);
    proxy.cut();
  }
  await consumer.stop(1000);
  through.disconnect();
  await proxy.close();
}, 170_000);

test('connections to Redis that go silent are replaced by new ones, and a connection that waits 10 s in a blocking read is kept', async () => {
  const proxy = await TcpProxy.inFrontOf(testRedis.url);
  const through = connectRedis(proxy.url, { name: 'silent', forJobs: true });
  const blocking = connectRedis(testRedis.url, { name: 'blocking', forJobs: true });
  let closed = 0;
  blocking.on('close', () => (closed += 1));
  try {
    const blockingReads = blocking.bzpopmin('nothing', 10).then(() => blocking.bzpopmin('nothing', 10));
    const consumer = consume(() => Promise.resolve('handled'), { connection: through, concurrency: 1 });
    await inState(await add('before'), 'completed');
    proxy.silence();
    const after = await add('after');
    // Only new connections work, as if another machine had taken over the address.
    proxy.restore();
    await inState(after, 'completed', 40_000);
    await consumer.stop(1000);
    await blockingReads;
    expect(closed).toBe(0);
  } finally {
    through.disconnect();
    blocking.disconnect();
    await proxy.close();
  }
}, 60_000);

test('an invalid message becomes a dead letter at once, and the stored reason does not contain values of the message', async () => {
  let handled = 0;
  consume(() => Promise.resolve(`handled ${(handled += 1)}`));
  const job = await add('m1', { template: 't', n: 'somebody@example.com' });
  await inState(job, 'failed');
  const failed = await queue.getJob('m1');
  expect([handled, failed?.attemptsMade, failed?.failedReason]).toEqual([0, 1, 'unreadable: n invalid_type']);
  await until(() => dead.length === 1);
});

test('a consumer that is stopped finishes its current job and takes no further job', async () => {
  const { released, release } = openLatch();
  const consumer = consume(() => released.then(() => 'done'), { concurrency: 1 });
  const [held, waiting] = [await add('held'), await add('waiting')];
  await inState(held, 'active');
  const stopped = consumer.stop(10_000);
  release();
  await stopped;
  expect([await held.getState(), await waiting.getState()]).toEqual(['completed', 'waiting']);
});

test('a job that a stopped consumer cannot finish in time goes back to the queue without losing an attempt, and another consumer does it', async () => {
  const { released, release } = openLatch();
  const consumer = consume(() => released.then(() => 'late'));
  const job = await add('m1');
  await inState(job, 'active');
  await consumer.stop(50);
  expect(await job.getState()).toBe('waiting');
  expect((await queue.getJob('m1'))?.attemptsMade).toBe(0);
  consume(() => Promise.resolve('by another'));
  await inState(job, 'completed');
  expect((await queue.getJob('m1'))?.returnvalue).toBe('by another');
  release();
});

test('a consumer that was stopped before its start takes no jobs', async () => {
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

test('UnsentJobs: counts waiting and delayed jobs; the gauge keeps its last value while Redis is unavailable', async () => {
  const own = new Redis(testRedis.url, { maxRetriesPerRequest: 1, enableOfflineQueue: false, lazyConnect: true });
  await own.connect();
  const queues = new Map(['work', 'other'].map((name) => [name, new Queue(name, { connection: own, prefix: PREFIX })]));
  for (const opened of queues.values()) opened.on('error', () => undefined);
  const unsent = new UnsentJobs({ queues, inBundles: () => Promise.resolve(0) } as never, ['work', 'other'] as never);
  const registry = new Registry();
  registerGauges(registry, () => unsent.count(), [{ name: 'size', help: 'size', values: (count) => [[count]] }]);
  await add('m1');
  await queue.add('t', {}, { delay: 60_000 });
  expect(await registry.metrics()).toContain('\nsize 2\n');
  own.disconnect();
  expect(await unsent.count()).toBeUndefined();
  expect(await registry.metrics()).toContain('\nsize 2\n');
  await Promise.all([...queues.values()].map((opened) => opened.close()));
});

/** A proxy in front of Redis that can drop Redis' answers, like a network that is about to break. */
async function answerDroppingProxy(
  target: number,
): Promise<{ port: number; dropAnswers(): void; cut(): void; close(): Promise<void> }> {
  const sockets = new Set<net.Socket>();
  let isDropping = false;
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
    redis.on('data', (bytes) => isDropping || client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isDropping = false;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    dropAnswers: () => void (isDropping = true),
    cut,
    close: () => new Promise((resolve) => (cut(), server.close(() => resolve()))),
  };
}
