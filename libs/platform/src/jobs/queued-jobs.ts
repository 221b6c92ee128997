import type { Transaction } from '#application/transaction-manager';
import { JOBS_PREFIX, jobQueues, type JobQueue } from '#contracts/queue-jobs';
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
/** What did not come through the outbox may have any name, and has no copy. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** What is done within so long is one statement and one commit. */
const FORGOTTEN_TOGETHER_MS = 200;

interface QueuedJob {
  readonly message_id: string;
  readonly queue: JobQueue;
  readonly body: { readonly template: string };
}

/** A job that was given up is not to come back after a loss of Redis. */
export async function forgetQueuedJob(tx: Transaction, jobId: string): Promise<void> {
  await inside(tx).rows('delete from queued_jobs where message_id::text = $1', [jobId]);
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
