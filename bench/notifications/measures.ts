import { JOBS_PREFIX, type BroadcastJob, type EmailJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';
import { notificationJobOptions } from '#platform/jobs/job-policy';
import { BullmqDestination } from '#platform/jobs/bullmq-destination';
import type { Destination } from '#platform/outbox/destination';
import { OutboxRelay } from '#platform/outbox/outbox-relay';
import { connectRedis } from '#platform/redis/redis-connection';
import { Worker } from 'bullmq';
import { SharedProviderLimiter } from '#platform/sending/provider-limiter';
import { maxInOneSecond } from '#testing/sliding-second';
import { ticketMail, turnPush } from '../../apps/notification-worker/src/testing/jobs.ts';
import { logger, NoOpMails, NoOpPushes, type BenchSetup } from './setup.ts';

const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
};

const asJob = (job: EmailJob | BroadcastJob) => ({ name: job.template, data: job, opts: notificationJobOptions(job.job_id) });

const limiterFor =
  (callsPerSecond: number) =>
  (redis: ConstructorParameters<typeof SharedProviderLimiter>[0]): SharedProviderLimiter =>
    new SharedProviderLimiter(redis, { provider: 'bench', callsPerSecond, onBreaker: () => undefined });

const addOptions = { removeOnComplete: true, removeOnFail: true };

/** The speed of BullMQ alone: jobs per second with a handler that does nothing. */
async function bareProcessing(setup: BenchSetup, count: number, concurrency: number): Promise<number> {
  let remaining = count;
  let onAllDone = (): void => undefined;
  const all = new Promise<void>((resolve) => (onAllDone = resolve));
  const handle = (): Promise<void> => {
    remaining -= 1;
    if (remaining === 0) onAllDone();
    return Promise.resolve();
  };
  const connection = connectRedis(setup.redisUrl, { name: 'bare', forJobs: true });
  const worker = new Worker('bare', handle, { connection, prefix: JOBS_PREFIX, concurrency, autorun: false });
  const seconds = await secondsOf(() => {
    void worker.run();
    return all;
  });
  await worker.close();
  connection.disconnect();
  return count / seconds;
}

/** The yardstick for pushes: devices per second if each device token is a job of its own, added to the queue and then handled. */
export async function pushesAsSingleJobs(setup: BenchSetup, devices: number): Promise<number> {
  await setup.clean();
  const seconds = await secondsOf(async () => {
    for (let from = 0; from < devices; from += 1000) {
      await setup.queue('bare').addBulk(
        Array.from({ length: Math.min(1000, devices - from) }, (_, n) => ({
          name: 'push',
          data: { token: `device-${from + n}`, title: 'Promjena', body: 'Novi termin' },
          opts: addOptions,
        })),
      );
    }
  });
  const perSecond = await bareProcessing(setup, devices, 50);
  return devices / (seconds + devices / perSecond);
}

function rangeJob(broadcastId: string, from: number): BroadcastJob {
  const { user_id: _user, fcm_tokens: _tokens, ...push } = turnPush({ template: 'match_changed', priority: 'normal' });
  return { ...push, broadcast_id: broadcastId, range: { from, to: from + 500 } };
}

async function writeBroadcast(setup: BenchSetup, devices: number): Promise<BroadcastJob[]> {
  const id = newId();
  await setup.database.query(`insert into broadcasts (id, template, devices) values ($1, 'match_changed', $2)`, [id, devices]);
  await setup.database.query(
    `insert into broadcast_devices select $1, n, 'fcm-token-of-about-the-usual-length-' || n from generate_series(0, $2 - 1) n`,
    [id, devices],
  );
  return Array.from({ length: devices / 500 }, (_, n) => rangeJob(id, n * 500));
}

const addRanges = (setup: BenchSetup, jobs: readonly BroadcastJob[]): Promise<unknown> =>
  setup.queue('push').addBulk(jobs.map(asJob));

/**
 * Our way to push: one job for each range of 500 devices. The worker records in PostgreSQL (the ledger of sends) what was sent; the
 * provider does nothing. Returns devices per second. The time for adding the jobs to the queue is included.
 */
export async function pushesAsRanges(setup: BenchSetup, devices: number): Promise<number> {
  await setup.clean();
  const jobs = await writeBroadcast(setup, devices);
  const provider = new NoOpPushes();
  const worker = await setup.worker({ pushes: provider, callsAtOnce: 500, pushesAtOnce: 6 });
  const all = provider.waitForDevices(devices);
  worker.start();
  const seconds = await secondsOf(async () => {
    await addRanges(setup, jobs);
    await all;
  });
  await worker.close();
  return devices / seconds;
}

/** Mails sent before the measurement, so that V8 has compiled the code, as in a production worker that runs for days. */
const WARM_UP_MAILS = 10_000;

/**
 * `ours`: mails per second. Each is rendered, recorded in the table `inbox` (the ledger of sends) and given to a provider that only
 * counts. `bare`: jobs per second of BullMQ alone, with equal concurrency.
 */
export async function mailRates(setup: BenchSetup, count: number, concurrency = 300): Promise<{ ours: number; bare: number }> {
  await sendMails(setup, WARM_UP_MAILS, concurrency);
  return sendMails(setup, count, concurrency);
}

async function sendMails(setup: BenchSetup, count: number, concurrency: number): Promise<{ ours: number; bare: number }> {
  await setup.clean();
  const preload = async (queue: 'email' | 'bare'): Promise<void> => {
    for (let from = 0; from < count; from += 1000) {
      const jobs = Array.from({ length: 1000 }, () => ticketMail());
      await setup.queue(queue).addBulk(jobs.map(asJob));
    }
  };
  await preload('bare');
  const bare = await bareProcessing(setup, count, concurrency);
  await preload('email');
  const provider = new NoOpMails();
  const worker = await setup.worker({ mails: provider, mailsAtOnce: concurrency });
  const all = provider.waitForMails(count);
  const seconds = await secondsOf(() => {
    worker.start();
    return all;
  });
  await worker.close();
  return { ours: count / seconds, bare };
}

/**
 * Latencies of urgent pushes ("it is your turn") from the outbox row to the provider, while a broadcast of 100,000 bulk pushes uses all
 * provider calls. In milliseconds, ascending.
 */
export async function turnPushLatencies(setup: BenchSetup, turns: number): Promise<number[]> {
  await setup.clean();
  const jobs = await writeBroadcast(setup, 100_000);
  await addRanges(setup, jobs);
  const provider = new NoOpPushes(20);
  const limiter = limiterFor(1000);
  const worker = await setup.worker({ pushes: provider, limiter, pushesAtOnce: 6 });
  worker.start();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const destination = new BullmqDestination('push-priority', setup.connection);
  const relay = new OutboxRelay(setup.database, destination, logger);
  const startedAt = new Map<string, number>();
  for (let turn = 0; turn < turns; turn += 1) {
    const push = turnPush();
    startedAt.set(push.job_id, performance.now());
    await setup.database.query(
      `insert into outbox (id, destination, event, body) values ($1, 'push-priority', 'queue.turn_granted', $2)`,
      [push.job_id, JSON.stringify(push)],
    );
    // In production the relay is woken when the transaction that wrote the outbox row commits.
    void relay.runOnce().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  for (let waits = 0; provider.urgentSentAt.size < turns && waits < 100; waits += 1) {
    await relay.runOnce();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const latencies = [...startedAt].map(([id, from]) => (provider.urgentSentAt.get(id) ?? Infinity) - from);
  await worker.close();
  await destination.close();
  return latencies.toSorted((a, b) => a - b);
}

/** The highest number of sends in any second at a limit of 100, while a second worker starts and the first one stops. */
export async function maxSendsInOneSecond(setup: BenchSetup, count: number): Promise<number> {
  await setup.clean();
  const provider = new NoOpMails();
  const limiter = limiterFor(100);
  const jobs = Array.from({ length: count }, () => ticketMail());
  await setup.queue('email').addBulk(jobs.map(asJob));
  const all = provider.waitForMails(count);
  const firstWorker = await setup.worker({ mails: provider, limiter, mailsAtOnce: 50 });
  firstWorker.start();
  await new Promise((resolve) => setTimeout(resolve, 1200));
  const secondWorker = await setup.worker({ mails: provider, limiter, mailsAtOnce: 50 });
  secondWorker.start();
  await new Promise((resolve) => setTimeout(resolve, 800));
  await firstWorker.stop();
  await all;
  await Promise.all([firstWorker.close(), secondWorker.close()]);
  return maxInOneSecond(provider.times);
}

/**
 * Writes outbox rows like the monolith. The rows of one broadcast have its id in the column `series`, so the relay can put them
 * into one bundle: one job in the queue for several rows.
 */
async function writeOutbox(setup: BenchSetup, destination: string, bodies: readonly (EmailJob | BroadcastJob)[]): Promise<void> {
  await setup.database.query(
    `insert into outbox (id, destination, event, series, body)
     select (body->>'job_id')::uuid, $2, 'bench', (body->>'broadcast_id')::uuid, body from jsonb_array_elements($1::jsonb) body`,
    [JSON.stringify(bodies), destination],
  );
}

async function drain(setup: BenchSetup, destination: Destination): Promise<number> {
  const relay = new OutboxRelay(setup.database, destination, logger);
  return secondsOf(async () => {
    while ((await relay.runOnce()) > 0);
  });
}

/** `ours`: outbox rows per second that the relay turns into jobs. `bare`: the same jobs added to the queue without a database. */
export async function outboxDrain(setup: BenchSetup, count: number): Promise<{ ours: number; bare: number }> {
  await setup.clean();
  const bodies = Array.from({ length: count }, () => ticketMail());
  await writeOutbox(setup, 'email', bodies);
  const destination = new BullmqDestination('email', setup.connection);
  const seconds = await drain(setup, destination);
  await destination.close();
  const alone = await secondsOf(async () => {
    for (let from = 0; from < count; from += 1000) {
      await setup.queue('bare').addBulk(bodies.slice(from, from + 1000).map(asJob));
    }
  });
  return { ours: count / seconds, bare: count / alone };
}

const RANGES_PER_BROADCAST = 200;

/** Range jobs of broadcasts to 100,000 devices each, without rows for the devices. */
function broadcastRows(count: number): BroadcastJob[] {
  let broadcast = newId();
  return Array.from({ length: count }, (_, n) => {
    if (n % RANGES_PER_BROADCAST === 0) broadcast = newId();
    return rangeJob(broadcast, (n % RANGES_PER_BROADCAST) * 500);
  });
}

/**
 * Outbox rows per second, processed in different ways. Each row is a job for 500 recipients of a broadcast to 100,000 devices.
 * - `ours`: from the outbox into Redis, in bundles (one job in the queue for several rows of a broadcast).
 * - `deleted`: the same rows only deleted from the outbox, without jobs.
 * - `added`: the same jobs added by BullMQ alone, the upper limit for a relay that makes one job of each row.
 * - `queued`: like `ours`, and then a worker replaces each bundle by one job for each row. Measured until all these jobs are
 *   queued.
 */
export async function broadcastDrain(
  setup: BenchSetup,
  count: number,
): Promise<{ ours: number; deleted: number; added: number; queued: number }> {
  await setup.clean();
  const bodies = broadcastRows(count);
  await writeOutbox(setup, 'push', bodies);
  const destination = new BullmqDestination('push', setup.connection);
  const seconds = await drain(setup, destination);
  await destination.close();
  const queued = count / (seconds + (await unpackAll(setup, count)));
  await setup.clean();
  await writeOutbox(setup, 'push', bodies);
  const deleting = await secondsOf(async () => {
    for (;;) {
      const [, deletedCount] = (await setup.database.query(
        `delete from outbox where id in (select id from outbox where destination = 'push' order by seq limit 1000 for update skip locked) returning 1`,
      )) as [unknown[], number];
      if (deletedCount === 0) return;
    }
  });
  const adding = await secondsOf(async () => {
    for (let from = 0; from < count; from += 1000) await addRanges(setup, bodies.slice(from, from + 1000));
  });
  return { ours: count / seconds, deleted: count / deleting, added: count / adding, queued };
}

/** Lets a worker replace the bundles in the queue by their jobs. Returns the seconds until all jobs are in the queue or already done. */
async function unpackAll(setup: BenchSetup, count: number): Promise<number> {
  const queue = setup.queue('push');
  const bundles = await queue.getJobCountByTypes('waiting');
  const worker = await setup.worker({ pushes: new NoOpPushes(), pushesAtOnce: 6 });
  const seconds = await secondsOf(async () => {
    worker.start();
    while ((await queue.getJobCountByTypes('waiting', 'active', 'completed')) < count + bundles)
      await new Promise((resolve) => setTimeout(resolve, 2));
  });
  await worker.close();
  return seconds;
}

/** Milliseconds for a broadcast from its outbox rows to the last device at a no-op provider. */
export async function broadcastDelivered(setup: BenchSetup, devices: number): Promise<number> {
  await setup.clean();
  await writeOutbox(setup, 'push', await writeBroadcast(setup, devices));
  const provider = new NoOpPushes();
  const worker = await setup.worker({ pushes: provider, callsAtOnce: 500, pushesAtOnce: 6 });
  const all = provider.waitForDevices(devices);
  worker.start();
  const destination = new BullmqDestination('push', setup.connection);
  const seconds = await secondsOf(async () => {
    await drain(setup, destination);
    await all;
  });
  await worker.close();
  await destination.close();
  return 1000 * seconds;
}
