import { JOBS_PREFIX, type BroadcastJob, type EmailJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';
import { notificationJobOptions } from '#platform/jobs/job-policy';
import { BullmqDestination } from '#platform/jobs/bullmq-destination';
import type { Destination } from '#platform/outbox/destination';
import { OutboxRelay } from '#platform/outbox/outbox-relay';
import { connectRedis } from '#platform/redis/redis-connection';
import { Worker } from 'bullmq';
import { SharedProviderLimiter } from '#platform/sending/provider-limiter';
import { mostInOneSecond } from '#testing/sliding-second';
import { ticketMail, turnPush } from '../../apps/notification-worker/src/testing/jobs.ts';
import { quantile } from '../instruments/quantiles.ts';
import { logger, NoMails, NoPushes, type Ground } from './ground.ts';

const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
};

const addOptions = { removeOnComplete: true, removeOnFail: true };

/** BullMQ alone, a handler that does nothing: jobs a second. */
async function bareProcessing(ground: Ground, count: number, concurrency: number): Promise<number> {
  let left = count;
  let done = (): void => undefined;
  const all = new Promise<void>((resolve) => (done = resolve));
  const handle = (): Promise<void> => {
    left -= 1;
    if (left === 0) done();
    return Promise.resolve();
  };
  const connection = connectRedis(ground.redisUrl, { name: 'bare', forJobs: true });
  const worker = new Worker('bare', handle, { connection, prefix: JOBS_PREFIX, concurrency, autorun: false });
  const seconds = await secondsOf(() => {
    void worker.run();
    return all;
  });
  await worker.close();
  connection.disconnect();
  return count / seconds;
}

/** The textbook: one job a token, then handled. Devices a second. */
export async function onePushAJob(ground: Ground, devices: number): Promise<number> {
  await ground.clean();
  const seconds = await secondsOf(async () => {
    for (let from = 0; from < devices; from += 1000) {
      await ground.queue('bare').addBulk(
        Array.from({ length: Math.min(1000, devices - from) }, (_, n) => ({
          name: 'push',
          data: { token: `device-${from + n}`, title: 'Promjena', body: 'Novi termin' },
          opts: addOptions,
        })),
      );
    }
  });
  const perSecond = await bareProcessing(ground, devices, 50);
  return devices / (seconds + devices / perSecond);
}

function rangeJob(broadcastId: string, from: number): BroadcastJob {
  const { user_id: _user, fcm_tokens: _tokens, ...push } = turnPush({ template: 'match_changed', priority: 'normal' });
  return { ...push, broadcast_id: broadcastId, range: { from, to: from + 500 } };
}

async function writeBroadcast(ground: Ground, devices: number): Promise<BroadcastJob[]> {
  const id = newId();
  await ground.database.query(`insert into broadcasts (id, template, devices) values ($1, 'match_changed', $2)`, [id, devices]);
  await ground.database.query(
    `insert into broadcast_devices select $1, n, 'fcm-token-of-about-the-usual-length-' || n from generate_series(0, $2 - 1) n`,
    [id, devices],
  );
  return Array.from({ length: devices / 500 }, (_, n) => rangeJob(id, n * 500));
}

const addRanges = (ground: Ground, jobs: readonly BroadcastJob[]): Promise<unknown> =>
  ground.queue('push').addBulk(jobs.map((job) => ({ name: job.template, data: job, opts: notificationJobOptions(job.job_id) })));

/** Ours: range jobs through the ledger to a provider that does nothing. Devices a second, queueing included. */
export async function rangesOfPushes(ground: Ground, devices: number): Promise<number> {
  await ground.clean();
  const jobs = await writeBroadcast(ground, devices);
  const provider = new NoPushes();
  const worker = await ground.worker({ pushes: provider, callsAtOnce: 500, pushesAtOnce: 6 });
  const all = provider.reaching(devices);
  worker.start();
  const seconds = await secondsOf(async () => {
    await addRanges(ground, jobs);
    await all;
  });
  await worker.close();
  return devices / seconds;
}

/** Of each before it is measured: a worker lives for days, and its code is compiled once. Both need it, ours longer. */
const WARM_UP = 10_000;

/** Mails a second through template, ledger and provider port; and BullMQ alone with as many hands. */
export async function mails(ground: Ground, count: number, hands = 300): Promise<{ ours: number; bare: number }> {
  await sendMails(ground, WARM_UP, hands);
  return sendMails(ground, count, hands);
}

async function sendMails(ground: Ground, count: number, hands: number): Promise<{ ours: number; bare: number }> {
  await ground.clean();
  const preload = async (queue: 'email' | 'bare'): Promise<void> => {
    for (let from = 0; from < count; from += 1000) {
      const jobs = Array.from({ length: 1000 }, () => ticketMail());
      await ground
        .queue(queue)
        .addBulk(jobs.map((job) => ({ name: job.template, data: job, opts: notificationJobOptions(job.job_id) })));
    }
  };
  await preload('bare');
  const bare = await bareProcessing(ground, count, hands);
  await preload('email');
  const provider = new NoMails();
  const worker = await ground.worker({ mails: provider, mailsAtOnce: hands });
  const all = provider.sent(count);
  const seconds = await secondsOf(() => {
    worker.start();
    return all;
  });
  await worker.close();
  return { ours: count / seconds, bare };
}

/** From the row in the outbox to the provider, while a mailing waits and uses up its calls. Milliseconds, ascending. */
export async function turnNotices(ground: Ground, turns: number): Promise<number[]> {
  await ground.clean();
  const jobs = await writeBroadcast(ground, 100_000);
  await addRanges(ground, jobs);
  const provider = new NoPushes(20);
  const gate = (redis: ConstructorParameters<typeof SharedProviderLimiter>[0]) =>
    new SharedProviderLimiter(redis, { provider: 'bench', callsPerSecond: 1000, onBreaker: () => undefined });
  const worker = await ground.worker({ pushes: provider, gate, pushesAtOnce: 6 });
  worker.start();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const destination = new BullmqDestination('push-priority', ground.connection);
  const relay = new OutboxRelay(ground.database, destination, logger);
  const startedAt = new Map<string, number>();
  for (let turn = 0; turn < turns; turn += 1) {
    const push = turnPush();
    startedAt.set(push.job_id, performance.now());
    await ground.database.query(
      `insert into outbox (id, destination, event, body) values ($1, 'push-priority', 'queue.turn_granted', $2)`,
      [push.job_id, JSON.stringify(push)],
    );
    // The writer's commit nudges the relay.
    void relay.runOnce().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  for (let waits = 0; provider.turns.size < turns && waits < 100; waits += 1) {
    await relay.runOnce();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const latencies = [...startedAt].map(([id, from]) => (provider.turns.get(id) ?? Infinity) - from);
  await worker.close();
  await destination.close();
  return latencies.toSorted((a, b) => a - b);
}

/** The most sends in any second at a limit of 100, while a second worker comes and the first one goes. */
export async function sendsInASecond(ground: Ground, count: number): Promise<number> {
  await ground.clean();
  const provider = new NoMails();
  const gate = (redis: ConstructorParameters<typeof SharedProviderLimiter>[0]) =>
    new SharedProviderLimiter(redis, { provider: 'bench', callsPerSecond: 100, onBreaker: () => undefined });
  const jobs = Array.from({ length: count }, () => ticketMail());
  await ground
    .queue('email')
    .addBulk(jobs.map((job) => ({ name: job.template, data: job, opts: notificationJobOptions(job.job_id) })));
  const all = provider.sent(count);
  const old = await ground.worker({ mails: provider, gate, mailsAtOnce: 50 });
  old.start();
  await new Promise((resolve) => setTimeout(resolve, 1200));
  const next = await ground.worker({ mails: provider, gate, mailsAtOnce: 50 });
  next.start();
  await new Promise((resolve) => setTimeout(resolve, 800));
  await old.stop();
  await all;
  await Promise.all([old.close(), next.close()]);
  return mostInOneSecond(provider.times);
}

/** As the monolith writes them: the ranges of a broadcast are a series. */
async function writeOutbox(ground: Ground, destination: string, bodies: readonly (EmailJob | BroadcastJob)[]): Promise<void> {
  await ground.database.query(
    `insert into outbox (id, destination, event, series, body)
     select (body->>'job_id')::uuid, $2, 'bench', (body->>'broadcast_id')::uuid, body from jsonb_array_elements($1::jsonb) body`,
    [JSON.stringify(bodies), destination],
  );
}

async function drain(ground: Ground, destination: Destination): Promise<number> {
  const relay = new OutboxRelay(ground.database, destination, logger);
  return secondsOf(async () => {
    while ((await relay.runOnce()) > 0);
  });
}

/** Rows a second from the outbox into jobs; and the same jobs added without a database. */
export async function outboxDrain(ground: Ground, count: number): Promise<{ ours: number; bare: number }> {
  await ground.clean();
  const bodies = Array.from({ length: count }, () => ticketMail());
  await writeOutbox(ground, 'email', bodies);
  const destination = new BullmqDestination('email', ground.connection);
  const seconds = await drain(ground, destination);
  await destination.close();
  const alone = await secondsOf(async () => {
    for (let from = 0; from < count; from += 1000) {
      await ground
        .queue('bare')
        .addBulk(
          bodies
            .slice(from, from + 1000)
            .map((job) => ({ name: job.template, data: job, opts: notificationJobOptions(job.job_id) })),
        );
    }
  });
  return { ours: count / seconds, bare: count / alone };
}

const RANGES_OF_A_BROADCAST = 200;

/** Broadcasts to 100,000 devices each; nobody has written the devices down. */
function broadcastRows(count: number): BroadcastJob[] {
  let broadcast = newId();
  return Array.from({ length: count }, (_, n) => {
    if (n % RANGES_OF_A_BROADCAST === 0) broadcast = newId();
    return rangeJob(broadcast, (n % RANGES_OF_A_BROADCAST) * 500);
  });
}

/**
 * Rows a second, each row 500 recipients of a broadcast to 100,000: `ours` out of the outbox into Redis, in bundles; `deleted`
 * the same rows deleted and nothing more; `added` the same jobs by BullMQ alone, which no relay that makes a job of a row can
 * beat; `queued` until each row's own job stands in its queue, which is the relay and then a worker that unpacks the bundles.
 */
export async function broadcastDrain(
  ground: Ground,
  count: number,
): Promise<{ ours: number; deleted: number; added: number; queued: number }> {
  await ground.clean();
  const bodies = broadcastRows(count);
  await writeOutbox(ground, 'push', bodies);
  const destination = new BullmqDestination('push', ground.connection);
  const seconds = await drain(ground, destination);
  await destination.close();
  const queued = count / (seconds + (await unpackAll(ground, count)));
  await ground.clean();
  await writeOutbox(ground, 'push', bodies);
  const deleting = await secondsOf(async () => {
    for (;;) {
      const [, gone] = (await ground.database.query(
        `delete from outbox where id in (select id from outbox where destination = 'push' order by seq limit 1000 for update skip locked) returning 1`,
      )) as [unknown[], number];
      if (gone === 0) return;
    }
  });
  const adding = await secondsOf(async () => {
    for (let from = 0; from < count; from += 1000) await addRanges(ground, bodies.slice(from, from + 1000));
  });
  return { ours: count / seconds, deleted: count / deleting, added: count / adding, queued };
}

/** A worker takes the bundles out of the queue and puts their jobs in. Seconds until all stand there, or are done already. */
async function unpackAll(ground: Ground, count: number): Promise<number> {
  const queue = ground.queue('push');
  const bundles = await queue.getJobCountByTypes('waiting');
  const worker = await ground.worker({ pushes: new NoPushes(), pushesAtOnce: 6 });
  const seconds = await secondsOf(async () => {
    worker.start();
    while ((await queue.getJobCountByTypes('waiting', 'active', 'completed')) < count + bundles)
      await new Promise((resolve) => setTimeout(resolve, 2));
  });
  await worker.close();
  return seconds;
}

/** A broadcast to so many devices, from its rows in the outbox to a provider that does nothing. Milliseconds until the last one. */
export async function broadcastDelivered(ground: Ground, devices: number): Promise<number> {
  await ground.clean();
  await writeOutbox(ground, 'push', await writeBroadcast(ground, devices));
  const provider = new NoPushes();
  const worker = await ground.worker({ pushes: provider, callsAtOnce: 500, pushesAtOnce: 6 });
  const all = provider.reaching(devices);
  worker.start();
  const destination = new BullmqDestination('push', ground.connection);
  const seconds = await secondsOf(async () => {
    await drain(ground, destination);
    await all;
  });
  await worker.close();
  await destination.close();
  return 1000 * seconds;
}

export const p99 = (latencies: readonly number[]): number => quantile(latencies, 0.99);
