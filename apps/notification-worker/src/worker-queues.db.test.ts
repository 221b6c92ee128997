import type { JobQueue } from '#contracts/queue-jobs';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { Job } from 'bullmq';
import { ticketMail, turnPush } from './testing/jobs.ts';
import { eventually, inState, runWorker, type RunningWorker } from './testing/running-worker.ts';

let servers: { database: TestDatabase; redis: TestRedis };
const running: RunningWorker[] = [];

beforeAll(async () => {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  servers = { database, redis };
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.close()));
  await servers.redis.flush();
});
afterAll(async () => {
  await Promise.all([servers.database.close(), servers.redis.close()]);
});

async function start(WORKER_QUEUES: string): Promise<RunningWorker> {
  const worker = await runWorker({ WORKER_QUEUES }, servers);
  running.push(worker);
  return worker;
}

async function publishToAll(worker: RunningWorker): Promise<Record<JobQueue, Job>> {
  return {
    push: await worker.publish('push', turnPush({ priority: 'normal' })),
    'push-priority': await worker.publish('push-priority', turnPush()),
    email: await worker.publish('email', ticketMail()),
  };
}

/** How long a job must stay untouched. With WORKER_QUEUES=all the same jobs are done in a few milliseconds. */
const UNTOUCHED_MS = 1000;

test.each<{ own: 'email' | 'push'; other: 'email' | 'push'; consumes: JobQueue[]; leaves: JobQueue[] }>([
  { own: 'email', other: 'push', consumes: ['email'], leaves: ['push', 'push-priority'] },
  { own: 'push', other: 'email', consumes: ['push', 'push-priority'], leaves: ['email'] },
])(
  'WORKER_QUEUES=$own: the worker does the jobs of $consumes and leaves those of $leaves to a worker with WORKER_QUEUES=$other',
  async ({ own, other, consumes, leaves }) => {
    const jobs = await publishToAll(await start(own));
    await Promise.all(consumes.map((queue) => inState(jobs[queue], 'completed')));
    await new Promise((resolve) => setTimeout(resolve, UNTOUCHED_MS));
    expect(await Promise.all(leaves.map((queue) => jobs[queue].getState()))).toEqual(leaves.map(() => 'waiting'));
    await start(other);
    await Promise.all(leaves.map((queue) => inState(jobs[queue], 'completed')));
  },
  30_000,
);

test('negative control: a worker with WORKER_QUEUES=all does the jobs of every queue within the time of the test above', async () => {
  const jobs = await publishToAll(await start('all'));
  await Promise.all(Object.values(jobs).map((job) => inState(job, 'completed', UNTOUCHED_MS)));
});

test.each([
  ['email', 'notification_email_queue_size 0', 'notification_push_'],
  ['push', 'notification_push_latency_seconds_bucket{le="0.5"} 0', 'notification_email_'],
])('WORKER_QUEUES=%s: the metric "%s" exists from the start, and none whose name begins with %s', async (own, line, other) => {
  const { body } = await (await start(own)).get('/metrics');
  expect(body.split('\n')).toContain(line);
  expect(body).not.toContain(other);
});

test.each(['email', 'push'])('WORKER_QUEUES=%s: the worker is ready although the other queues have no consumer', async (own) => {
  const worker = await start(own);
  await eventually(async () => (await worker.get('/health/ready')).status === 200);
});

test.each(['email', 'push'])(
  'WORKER_QUEUES=%s: the worker serves the mailbox with the mails and pushes of all workers',
  async (own) => {
    const [reader, other] = [await start(own), await start(own === 'email' ? 'push' : 'email')];
    const message = ticketMail({ recipient: `${own}@example.com` });
    await inState(await other.publish('email', message), 'completed');
    expect(await reader.mailbox({ to: `${own}@example.com` })).toHaveLength(1);
  },
);
