import type { Transaction } from '#application/transaction-manager';
import { JOBS_PREFIX, jobQueues, jobsIn, type BroadcastBundle, type JobQueue } from '#contracts/queue-jobs';
import { notificationJobOptions } from './job-policy.ts';
import type { Logger } from '../logging/logger.ts';
import { inside } from '../postgres/transaction.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { Queue } from 'bullmq';
import type { DataSource } from 'typeorm';

/** Redis has it as long as it has the jobs it was set after. */
const KNOWN_KEY = `${JOBS_PREFIX}:all-jobs-known`;
/** A failover may lose the last second of jobs and keep the key, so all is looked through this often anyway. */
const LOOK_THROUGH_SECONDS = 600;
const PAGE = 500;
/** So many jobs of a bundle are put in at a time: 7 ms of Redis, in which a turn notice waits. */
const PUT_IN_AT_ONCE = 200;
/** What did not come through the outbox may have any name, and has no copy. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** What is done within so long is one statement and one commit. */
const FORGOTTEN_TOGETHER_MS = 200;

/**
 * The copies of a bundle's jobs, once: its own row says whether they were made. To insert that row is to wait for the relay,
 * whose commit may be under way; if it took its round back, the rows are in the outbox and come again in another bundle.
 */
const UNPACK = `
  with bundle as (
    insert into queued_jobs (message_id, queue, body) values ($1, $2, $3)
    on conflict (message_id) do update set jobs = 1 where queued_jobs.jobs > 1
    returning old.message_id is not null as is_first
  )
  insert into queued_jobs (message_id, queue, body)
  select (job ->> 'job_id')::uuid, $2, job from bundle, jsonb_array_elements($4::jsonb) job where is_first
  on conflict (message_id) do nothing`;

interface QueuedJob {
  readonly message_id: string;
  readonly queue: JobQueue;
  readonly body: { readonly template: string };
}

/** A job that was given up is not to come back after a loss of Redis. */
export async function forgetQueuedJob(tx: Transaction, jobId: string): Promise<void> {
  await inside(tx).rows('delete from queued_jobs where message_id::text = $1', [jobId]);
}

/** How many jobs more than Redis says stand in these queues: a bundle counts for one there. */
export async function jobsInBundles(database: DataSource, queues: readonly JobQueue[]): Promise<number> {
  const [row] = await database.query<{ more: number }[]>(
    'select coalesce(sum(jobs - 1), 0)::int as more from queued_jobs where jobs > 1 and queue = any($1)',
    [queues],
  );
  return row?.more ?? 0;
}

/** The copies of jobs in PostgreSQL: deleted when a job is done with, put back into a Redis that has lost them. */
export class QueuedJobs {
  private readonly queues: ReadonlyMap<JobQueue, Queue>;
  private done: string[] = [];
  private flushing: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly database: DataSource,
    private readonly redis: RedisConnection,
    private readonly logger: Logger,
  ) {
    this.queues = new Map(
      jobQueues.map((name) => [name, new Queue(name, { connection: redis, prefix: JOBS_PREFIX, skipVersionCheck: true })]),
    );
    for (const queue of this.queues.values()) queue.on('error', () => undefined);
  }

  /** Nobody waits for it: a copy that stays is put back one day, and the ledger says that it is done. */
  forget(messageId: string): void {
    this.done.push(messageId);
    if (this.isClosed) void this.flush();
    else this.flushing ??= setTimeout(() => void this.flush(), FORGOTTEN_TOGETHER_MS);
  }

  /**
   * Puts the jobs of a bundle into their queue; their copies come first, as whatever stands there may be lost with Redis. Done
   * twice it changes nothing: the jobs keep their ids, and the ledger knows what has been sent.
   */
  async unpack(queue: JobQueue, bundle: BroadcastBundle): Promise<void> {
    const jobs = jobsIn(bundle);
    const body = { ...bundle, ranges: JSON.stringify(bundle.ranges) };
    await this.database.query(UNPACK, [bundle.job_id, queue, JSON.stringify(body), JSON.stringify(jobs)]);
    for (let start = 0; start < jobs.length; start += PUT_IN_AT_ONCE) {
      await this.queues.get(queue)?.addBulk(
        jobs.slice(start, start + PUT_IN_AT_ONCE).map((job) => ({
          name: job.template,
          data: job,
          // It has been waiting since it was written, not since it was unpacked.
          opts: { ...notificationJobOptions(job.job_id), timestamp: Date.parse(job.created_at) },
        })),
      );
    }
    this.forget(bundle.job_id);
  }

  inBundles(queues: readonly JobQueue[]): Promise<number> {
    return jobsInBundles(this.database, queues);
  }

  /** Answers how many jobs Redis had lost. */
  async restoreOnce(): Promise<number> {
    if ((await this.redis.exists(KNOWN_KEY)) === 1) return 0;
    let restored = 0;
    for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
      const page = await this.database.query<QueuedJob[]>(
        'select message_id, queue, body from queued_jobs where message_id > $1 order by message_id limit $2',
        [after, PAGE],
      );
      const known = await Promise.all(
        page.map(({ queue, message_id }) => this.redis.exists(`${JOBS_PREFIX}:${queue}:${message_id}`)),
      );
      restored += await this.putBack(page.filter((_, index) => known[index] === 0));
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      after = last.message_id;
    }
    await this.redis.set(KNOWN_KEY, '1', 'EX', LOOK_THROUGH_SECONDS);
    if (restored > 0) this.logger.warn({ restored }, 'jobs that Redis had lost are back in their queues');
    // No further round: the key says that all is known.
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
    await this.database
      .query('delete from queued_jobs where message_id = any($1::uuid[])', [messageIds.filter((id) => UUID.test(id))])
      .catch((error: unknown) => this.logger.warn({ err: error }, 'copies of finished jobs stay'));
  }

  private async putBack(lost: readonly QueuedJob[]): Promise<number> {
    for (const [name, queue] of this.queues) {
      const jobs = lost.filter((job) => job.queue === name);
      if (jobs.length === 0) continue;
      await queue.addBulk(
        jobs.map(({ message_id, body }) => ({ name: body.template, data: body, opts: notificationJobOptions(message_id) })),
      );
    }
    return lost.length;
  }
}
