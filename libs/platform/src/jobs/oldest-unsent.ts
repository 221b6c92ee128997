import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';

/** A scrape does not wait for a Redis that is away. */
const PATIENCE_MS = 1000;
/** So many of each state are looked at, the oldest first: what stands behind them is younger than they are. */
const LOOKED_AT = 200;
const UNSENT = ['active', 'waiting', 'prioritized', 'delayed'] as const;

/** How long the oldest message of each template has been waiting to leave. A job's name is its template. */
export class OldestUnsent implements BeforeApplicationShutdown {
  private readonly queues: readonly Queue[];

  constructor(connection: Redis | Cluster, prefix: string, names: readonly string[]) {
    this.queues = names.map((name) => new Queue(name, { connection, prefix }));
    // Without a listener an error event ends the process; the consumer logs the same trouble.
    for (const queue of this.queues) queue.on('error', () => undefined);
  }

  /** Seconds by template; undefined without Redis. */
  async ages(nowMs: number): Promise<ReadonlyMap<string, number> | undefined> {
    const reading = Promise.all(
      this.queues.flatMap((queue) => UNSENT.map((state) => queue.getJobs([state], 0, LOOKED_AT - 1, true))),
    );
    const found = await Promise.race([reading.catch(() => undefined), afterPatience()]);
    if (!found) return undefined;
    const ages = new Map<string, number>();
    for (const job of found.flat()) {
      // A job may go while it is read.
      if (job as typeof job | undefined) ages.set(job.name, Math.max(ages.get(job.name) ?? 0, (nowMs - job.timestamp) / 1000));
    }
    return ages;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.close()));
  }
}

function afterPatience(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), PATIENCE_MS).unref());
}
