import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';

/** Maximum time that a metrics scrape waits for Redis. */
const TIMEOUT_MS = 1000;
/** How many jobs of each state are read, oldest first. All further jobs are younger. */
const MAX_JOBS_PER_STATE = 200;
const UNSENT = ['active', 'waiting', 'prioritized', 'delayed'] as const;

/** Finds the age of the oldest unsent message of each template (kind of mail or push). The name of a job is its template. */
export class OldestUnsent implements BeforeApplicationShutdown {
  private readonly queues: readonly Queue[];

  constructor(connection: Redis | Cluster, prefix: string, names: readonly string[]) {
    this.queues = names.map((name) => new Queue(name, { connection, prefix }));
    // Without a listener an error event ends the process. The queue consumer logs the same error, so nothing is logged here.
    for (const queue of this.queues) queue.on('error', () => undefined);
  }

  /** Returns the age in seconds of the oldest unsent message by template; undefined when Redis is unavailable. */
  async ages(nowMs: number): Promise<ReadonlyMap<string, number> | undefined> {
    const reading = Promise.all(
      this.queues.flatMap((queue) => UNSENT.map((state) => queue.getJobs([state], 0, MAX_JOBS_PER_STATE - 1, true))),
    );
    const found = await Promise.race([reading.catch(() => undefined), afterTimeout()]);
    if (!found) return undefined;
    const ages = new Map<string, number>();
    for (const job of found.flat()) {
      // A job that is removed while it is read is undefined.
      if (job as typeof job | undefined) ages.set(job.name, Math.max(ages.get(job.name) ?? 0, (nowMs - job.timestamp) / 1000));
    }
    return ages;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.close()));
  }
}

function afterTimeout(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), TIMEOUT_MS).unref());
}
