import type { BroadcastJob, EmailJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';
import { BullmqDestination } from '#messaging/jobs/bullmq-destination';
import type { Destination } from '#messaging/outbox/destination';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { ticketMail } from '../../apps/notification-worker/src/testing/jobs.ts';
import { addRanges, asJob, rangeJob, secondsOf, writeBroadcast } from './measures.ts';
import { logger, NoOpPushes, type BenchSetup } from './setup.ts';

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
