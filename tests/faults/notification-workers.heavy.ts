import { JOBS_PREFIX, type EmailJob, type JobQueue, type PushJob } from '#contracts/queue-jobs';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Queue, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { FakeFcm } from '../../apps/notification-worker/src/testing/fake-fcm.ts';
import { ticketMail, turnPush } from '../../apps/notification-worker/src/testing/jobs.ts';
import { FakeMailgun } from '../../apps/notification-worker/src/testing/fake-mailgun.ts';
import { eventually, inState } from '../../apps/notification-worker/src/testing/running-worker.ts';

// The fault scenarios F15, F16 and F17: notification worker processes are frozen and killed. The tests take about three minutes, because
// the locks have their real expiry.

const TWO_MINUTES = 120_000;

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let connection: Redis;
let mailgun: FakeMailgun;
let fcm: FakeFcm;
let queues: Map<JobQueue, Queue>;
let children: ChildProcess[];

beforeEach(async () => {
  [testDatabase, testRedis, mailgun, fcm] = await Promise.all([
    createTestDatabase(),
    createTestRedis(),
    FakeMailgun.start(),
    FakeFcm.start(),
  ]);
  connection = new Redis(testRedis.url, { maxRetriesPerRequest: null });
  [queues, children] = [new Map(), []];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
  }
  await Promise.all([...queues.values()].map((queue) => queue.close()));
  await connection.quit();
  await Promise.all([mailgun.close(), fcm.close(), testDatabase.close(), testRedis.close()]);
});

function queue(name: JobQueue): Queue {
  const opened = queues.get(name) ?? new Queue(name, { connection, prefix: JOBS_PREFIX });
  queues.set(name, opened);
  return opened;
}
const publish = (name: JobQueue, job: EmailJob | PushJob): Promise<Job> =>
  queue(name).add(job.template, job, notificationJobOptions(job.job_id));

interface WorkerProcess {
  readonly child: ChildProcess;
  readonly hasExited: () => boolean;
  /** Drains the worker. Returns the number of sends that it counted as possible duplicates. */
  drain(): Promise<number>;
}

async function startWorker(): Promise<WorkerProcess> {
  const root = path.resolve(import.meta.dirname, '../..');
  const settings = {
    databaseUrl: testDatabase.url,
    redisUrl: testRedis.url,
    mailgun: mailgun.settings,
    fcm: { base: fcm.url, account: fcm.account },
  };
  const child = spawn(
    process.execPath,
    [
      '--conditions=source',
      '--experimental-transform-types',
      '--disable-warning=ExperimentalWarning',
      path.join(import.meta.dirname, 'notification-worker-process.ts'),
    ],
    {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', WORKER_SETTINGS: JSON.stringify(settings) },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  children.push(child);
  let onDuplicates = (_count: number): void => undefined;
  const drained = new Promise<number>((resolve) => (onDuplicates = resolve));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
      if (line.startsWith('doubts ')) onDuplicates(Number(line.split(' ')[1]));
    });
  });
  return {
    child,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    drain: () => {
      child.kill('SIGTERM');
      return drained;
    },
  };
}

test('F15: a worker is frozen while it sends a mail: another worker sends the mail once and counts it as a possible duplicate', async () => {
  const frozen = await startWorker();
  mailgun.next.push('accept without answer');
  const job = await publish('email', ticketMail({ recipient: 'frozen@example.com' }));
  await eventually(() => Promise.resolve(mailgun.arrived.length === 1));
  frozen.child.kill('SIGSTOP');
  const healthy = await startWorker();
  await inState(job, 'completed', TWO_MINUTES);
  frozen.child.kill('SIGCONT');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(await job.getState()).toBe('completed');
  expect(mailgun.arrived).toHaveLength(2);
  expect(await healthy.drain()).toBe(1);
}, 180_000);

test('F16: a worker is killed during a job of 500 pushes: all pushes arrive; at most 100 arrive twice, and these are counted as possible duplicates', async () => {
  const first = await startWorker();
  fcm.delayMs = 80;
  const push = turnPush({ fcm_tokens: Array.from({ length: 500 }, (_, n) => `device-${n}`) });
  const job = await publish('push', push);
  await eventually(() => Promise.resolve(fcm.arrived.length >= 220));
  first.child.kill('SIGKILL');
  const second = await startWorker();
  await inState(job, 'completed', TWO_MINUTES);
  expect(new Set(fcm.arrived.map(({ token }) => token)).size).toBe(500);
  const resent = fcm.arrived.length - 500;
  const countedDuplicates = await second.drain();
  process.stdout.write(`  F16: lost 0, sent twice ${resent}, counted as possible duplicates ${countedDuplicates}\n`);
  expect(resent).toBeLessThanOrEqual(100);
  expect(countedDuplicates).toBeGreaterThanOrEqual(resent);
}, 180_000);

test('F17: a job that kills its worker becomes a dead letter after it has killed three workers, and no other job is lost', async () => {
  let killedWorkers = 0;
  let worker = await startWorker();
  const deadlyJob = await publish('push', turnPush({ fcm_tokens: ['deadly'] }));
  const otherJobs = await Promise.all(
    Array.from({ length: 30 }, (_, n) => publish('push', turnPush({ fcm_tokens: [`fine-${n}`] }))),
  );
  const startedAt = Date.now();
  while ((await deadlyJob.getState()) !== 'failed' && Date.now() - startedAt < 200_000) {
    if (worker.hasExited()) {
      killedWorkers += 1;
      worker = await startWorker();
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(await deadlyJob.getState()).toBe('failed');
  expect(killedWorkers).toBe(3);
  for (const job of otherJobs) await inState(job, 'completed', TWO_MINUTES);
  expect(new Set(fcm.arrived.map(({ token }) => token)).size).toBe(30);
  process.stdout.write(
    `  F17: ${killedWorkers} workers killed, dead letter after ${Math.round((Date.now() - startedAt) / 1000)} s\n`,
  );
  await worker.drain();
}, 300_000);
