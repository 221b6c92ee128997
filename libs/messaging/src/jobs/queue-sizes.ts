import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';

/** Maximum time that a metrics scrape waits for Redis. */
const TIMEOUT_MS = 1000;
/** BullMQ states of jobs that are not sent yet, including retries and jobs in progress. Dead letters do not count as unsent. */
const UNSENT = ['waiting', 'prioritized', 'delayed', 'active'] as const;

/** Counts the unsent mails or pushes of several queues together. Returns the last known number while Redis is unavailable. */
export class QueueSizes implements BeforeApplicationShutdown {
  private readonly queues: readonly Queue[];
  private lastKnown = 0;

  constructor(
    connection: Redis | Cluster,
    prefix: string,
    names: readonly string[],
    /**
     * Counts the jobs inside bundles (many jobs of a broadcast as one), for all these queues together. For Redis a bundle is one
     * job.
     */
    private readonly countInBundles: () => Promise<number> = () => Promise.resolve(0),
  ) {
    this.queues = names.map((name) => new Queue(name, { connection, prefix }));
    // Without a listener an error event ends the process. The queue consumer logs the same error, so nothing is logged here.
    for (const queue of this.queues) queue.on('error', () => undefined);
  }

  async unsent(): Promise<number> {
    const counting = Promise.all([...this.queues.map((queue) => queue.getJobCountByTypes(...UNSENT)), this.countInBundles()]);
    const counts = await Promise.race([counting.catch(() => undefined), afterTimeout()]);
    if (counts) this.lastKnown = counts.reduce((sum, count) => sum + count, 0);
    return this.lastKnown;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.close()));
  }
}

function afterTimeout(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), TIMEOUT_MS).unref());
}
