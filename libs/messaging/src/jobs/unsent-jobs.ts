import type { JobQueue } from '#contracts/queue-jobs';
import type { Queue } from 'bullmq';
import { waitAtMost } from '#platform/wait-at-most';
import type { QueuedJobs } from './queued-jobs.ts';

/** Maximum time that a metrics scrape waits for Redis. */
const TIMEOUT_MS = 1000;
/** How many jobs of each state are read, oldest first. All further jobs are younger. */
const MAX_JOBS_PER_STATE = 200;
/** BullMQ states of jobs that are not sent yet, including retries and jobs in progress. Dead letters do not count as unsent. */
const UNSENT = ['waiting', 'prioritized', 'delayed', 'active'] as const;

/** The unsent mails or pushes of several queues together. The answers are undefined while Redis is unavailable. */
export class UnsentJobs {
  private readonly queues: readonly Queue[];

  constructor(
    private readonly jobs: Pick<QueuedJobs, 'queues' | 'inBundles'>,
    private readonly names: readonly JobQueue[],
  ) {
    this.queues = names.flatMap((name) => jobs.queues.get(name) ?? []);
  }

  /** The number of unsent messages. Jobs inside a bundle (many jobs of a broadcast as one) count, each as one message. */
  async count(): Promise<number | undefined> {
    const inRedis = this.queues.map((queue) => queue.getJobCountByTypes(...UNSENT));
    // Mails have no bundles. A broadcast has them.
    const inBundles = this.names.includes('push') ? [this.jobs.inBundles(this.names)] : [];
    return (await orUndefined([...inRedis, ...inBundles]))?.reduce((sum, count) => sum + count, 0);
  }

  /** The age in seconds of the oldest unsent message by template (kind of mail or push). The name of a job is its template. */
  async ages(nowMs: number): Promise<ReadonlyMap<string, number> | undefined> {
    const found = await orUndefined(
      this.queues.flatMap((queue) => UNSENT.map((state) => queue.getJobs([state], 0, MAX_JOBS_PER_STATE - 1, true))),
    );
    if (!found) return undefined;
    const ages = new Map<string, number>();
    for (const job of found.flat()) {
      // A job that is removed while it is read is undefined.
      if (job as typeof job | undefined) ages.set(job.name, Math.max(ages.get(job.name) ?? 0, (nowMs - job.timestamp) / 1000));
    }
    return ages;
  }
}

function orUndefined<T>(readings: readonly Promise<T>[]): Promise<T[] | undefined> {
  const all = Promise.all(readings).catch(() => undefined);
  return waitAtMost(TIMEOUT_MS, all, undefined);
}
