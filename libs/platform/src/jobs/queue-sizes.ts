import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';

/** A scrape does not wait for a Redis that is away. */
const PATIENCE_MS = 1000;
/** Everything that has not left yet, the retries and what workers hold included; the dead letter is not a size. */
const UNSENT = ['waiting', 'prioritized', 'delayed', 'active'] as const;

/** How many messages stand in some queues together, read when somebody asks. Without Redis: the last number known. */
export class QueueSizes implements BeforeApplicationShutdown {
  private readonly queues: readonly Queue[];
  private lastKnown = 0;

  constructor(
    connection: Redis | Cluster,
    prefix: string,
    names: readonly string[],
    /** What a job stands for besides itself, all of them together. */
    private readonly alsoInside: () => Promise<number> = () => Promise.resolve(0),
  ) {
    this.queues = names.map((name) => new Queue(name, { connection, prefix }));
    // Without a listener an error event ends the process; the consumer logs the same trouble.
    for (const queue of this.queues) queue.on('error', () => undefined);
  }

  async unsent(): Promise<number> {
    const counting = Promise.all([...this.queues.map((queue) => queue.getJobCountByTypes(...UNSENT)), this.alsoInside()]);
    const counts = await Promise.race([counting.catch(() => undefined), afterPatience()]);
    if (counts) this.lastKnown = counts.reduce((sum, count) => sum + count, 0);
    return this.lastKnown;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.close()));
  }
}

function afterPatience(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), PATIENCE_MS).unref());
}
