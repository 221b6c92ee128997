import { JOBS_PREFIX, type BroadcastJob, type EmailJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';
import { BullmqDestination } from '#messaging/jobs/bullmq-destination';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { connectRedis } from '#platform/redis/redis-connection';
import { Worker } from 'bullmq';
import { SharedProviderLimiter } from '#messaging/sending/provider-limiter';
import { maxInOneSecond } from '#testing/sliding-second';
import { ticketMail, turnPush } from '../../apps/notification-worker/src/testing/jobs.ts';
import { logger, NoOpMails, NoOpPushes, type BenchSetup } from './setup.ts';

/** Seconds that the work takes. */
export const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
};

/** A job as BullMQ takes it. */
export const asJob = (job: EmailJob | BroadcastJob) => ({
  name: job.template,
  data: job,
  opts: notificationJobOptions(job.job_id),
});

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

/** The job of 500 devices of a broadcast, from the device with index `from` on. */
export function rangeJob(broadcastId: string, from: number): BroadcastJob {
  const { user_id: _user, fcm_tokens: _tokens, ...push } = turnPush({ template: 'match_changed', priority: 'normal' });
  return { ...push, broadcast_id: broadcastId, range: { from, to: from + 500 } };
}

/** Writes a broadcast with its devices. Returns its range jobs. */
export async function writeBroadcast(setup: BenchSetup, devices: number): Promise<BroadcastJob[]> {
  const id = newId();
  await setup.database.query(`insert into broadcasts (id, template, devices) values ($1, 'match_changed', $2)`, [id, devices]);
  await setup.database.query(
    `insert into broadcast_devices select $1, n, 'fcm-token-of-about-the-usual-length-' || n from generate_series(0, $2 - 1) n`,
    [id, devices],
  );
  return Array.from({ length: devices / 500 }, (_, n) => rangeJob(id, n * 500));
}

export const addRanges = (setup: BenchSetup, jobs: readonly BroadcastJob[]): Promise<unknown> =>
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
