import type { Transaction } from '#application/transaction-manager';
import { JOBS_PREFIX, jobQueues, jobsOfBundle, type BroadcastBundle, type JobQueue } from '#contracts/queue-jobs';
import { notificationJob } from './job-policy.ts';
import type { Logger } from '#platform/logging/logger';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { Queue } from 'bullmq';
import { openQueues } from './open-queues.ts';
import { COUNT_JOBS_IN_BUNDLES, DELETE_QUEUED_JOBS, PAGE_OF_QUEUED_JOBS, UNPACK_BUNDLE } from './queued-jobs.sql.ts';
import type { DataSource } from 'typeorm';

/** Redis key that exists after a check has found all jobs in Redis. When Redis loses its data, it loses the key with the jobs. */
const KNOWN_KEY = `${JOBS_PREFIX}:all-jobs-known`;
/**
 * Expiry of KNOWN_KEY. A failover of Redis may lose the jobs of the last second but keep the key, so a full check runs this
 * often.
 */
const CHECK_INTERVAL_SECONDS = 600;
/** Number of copies that are read at once. */
const PAGE_SIZE = 500;
/** Number of jobs of a bundle that one Redis command adds. It takes Redis 7 ms; a push "your turn" waits that long at most. */
const JOBS_PER_COMMAND = 200;
/** The form of the ids of jobs that have a copy. Jobs that did not come through the outbox may have any id, and have no copy. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const isUuid = (id: string): boolean => UUID.test(id);
/** Copies of all jobs that end within this time are deleted together, in one statement. */
const FORGET_DELAY_MS = 200;

/** The copy of a job in PostgreSQL. */
interface QueuedJob {
  readonly message_id: string;
  readonly queue: JobQueue;
  readonly body: { readonly template: string };
}

/** Deletes the copy of a job that an operator dropped, so that it is not restored after a loss of Redis. */
export async function deleteJobCopy(tx: Transaction, jobId: string): Promise<void> {
  await inside(tx).rows('delete from queued_jobs where message_id::text = $1', [jobId]);
}

/** Number of jobs in bundles, minus one for each bundle. Redis counts a bundle as one job, so its count lacks this number. */
export async function jobsInBundles(database: DataSource, queues: readonly JobQueue[]): Promise<number> {
  const [row] = await runUnprepared<{ uncounted: number }[]>(database, COUNT_JOBS_IN_BUNDLES.with({ queues }));
  return row?.uncounted ?? 0;
}

/**
 * The copies of notification jobs in PostgreSQL. A copy is deleted when its job ends, and restored to Redis if Redis lost the
 * job.
 */
export class QueuedJobs {
  readonly queues: ReadonlyMap<JobQueue, Queue>;
  private done: string[] = [];
  private flushing: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly database: DataSource,
    private readonly redis: RedisConnection,
    private readonly logger: Logger,
  ) {
    this.queues = openQueues(jobQueues, redis);
  }

  /**
   * Deletes the copy of a finished job, after a short delay and without a guarantee. If a copy remains and is restored, the
   * worker finds in the inbox or its ledger that the job is done.
   */
  forget(messageId: string): void {
    this.done.push(messageId);
    if (this.isClosed) void this.flush();
    else this.flushing ??= setTimeout(() => void this.flush(), FORGET_DELAY_MS);
  }

  /**
   * Adds the jobs of a bundle to their queue. Copies of the jobs are written before, because Redis may lose the jobs. It is safe
   * to unpack a bundle twice: the jobs keep their ids, and the ledger of sends says which ones were sent.
   */
  async unpack(queue: JobQueue, bundle: BroadcastBundle): Promise<void> {
    const jobs = jobsOfBundle(bundle);
    const body = { ...bundle, ranges: JSON.stringify(bundle.ranges) };
    await runUnprepared(
      this.database,
      UNPACK_BUNDLE.with({ bundleId: bundle.job_id, queue, bundle: JSON.stringify(body), jobs: JSON.stringify(jobs) }),
    );
    for (let start = 0; start < jobs.length; start += JOBS_PER_COMMAND) {
      await this.queues.get(queue)?.addBulk(
        jobs.slice(start, start + JOBS_PER_COMMAND).map((job) => {
          const { opts, ...added } = notificationJob(job.job_id, job);
          // The age of a job counts from its creation, not from the unpacking.
          return { ...added, opts: { ...opts, timestamp: Date.parse(job.created_at) } };
        }),
      );
    }
    this.forget(bundle.job_id);
  }

  inBundles(queues: readonly JobQueue[]): Promise<number> {
    return jobsInBundles(this.database, queues);
  }

  /**
   * Adds jobs again that Redis has lost. Does nothing while KNOWN_KEY exists. Always returns 0, so that the loop that calls this
   * method waits before the next call.
   */
  async restoreOnce(): Promise<number> {
    if ((await this.redis.exists(KNOWN_KEY)) === 1) return 0;
    let restored = 0;
    for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
      const page = await runUnprepared<QueuedJob[]>(this.database, PAGE_OF_QUEUED_JOBS.with({ after, limit: PAGE_SIZE }));
      const known = await Promise.all(
        page.map(({ queue, message_id }) => this.redis.exists(`${JOBS_PREFIX}:${queue}:${message_id}`)),
      );
      restored += await this.putBack(page.filter((_, index) => known[index] === 0));
      const last = page.at(-1);
      if (!last || page.length < PAGE_SIZE) break;
      after = last.message_id;
    }
    await this.redis.set(KNOWN_KEY, '1', 'EX', CHECK_INTERVAL_SECONDS);
    if (restored > 0) this.logger.warn({ restored }, 'jobs that Redis had lost are back in their queues');
    return 0;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.flush();
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  private async flush(): Promise<void> {
    clearTimeout(this.flushing);
    this.flushing = undefined;
    const messageIds = this.done;
    this.done = [];
    if (messageIds.length === 0) return;
    const statement = DELETE_QUEUED_JOBS.with({ messageIds: messageIds.filter(isUuid) });
    await runUnprepared(this.database, statement).catch((error: unknown) =>
      this.logger.warn({ err: error }, 'copies of finished jobs could not be deleted'),
    );
  }

  private async putBack(lost: readonly QueuedJob[]): Promise<number> {
    for (const [name, queue] of this.queues) {
      const jobs = lost.filter((job) => job.queue === name);
      if (jobs.length === 0) continue;
      await queue.addBulk(jobs.map(({ message_id, body }) => notificationJob(message_id, body)));
    }
    return lost.length;
  }
}
