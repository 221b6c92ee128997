import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import { emailJob, JOBS_PREFIX, queueSchemas, type EmailJob, type JobQueue } from '#contracts/queue-jobs';
import { JobLedger } from '#messaging/jobs/job-ledger';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import { JobRunner } from '#messaging/jobs/job-runner';
import type { JobTransport } from '#messaging/jobs/job-transport';
import { QueueConsumer } from '#messaging/jobs/queue-consumer';
import { newId } from '#platform/ids';
import { createLogger } from '#platform/logging/logger';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { OutboxRelays } from '../../relay/outbox-relays.ts';
import { openMonolith, type WholeMonolith } from '../../testing/whole-monolith.ts';
import { JOB_TRANSPORT } from '../../tokens.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

/** The class of the general jobs that tests create. Only the workers of `JobsAtWork` know it. */
export const TEST_CLASS = 'test_job';

/** A whole monolith, with workers that do what a test says: each mail, push or general job is done, fails or hangs. */
export class JobsAtWork {
  readonly queues: ReadonlyMap<JobQueue, Queue>;
  private workers: { stop(graceMs: number): Promise<void> }[] = [];

  private constructor(
    readonly monolith: WholeMonolith,
    private readonly database: TestDatabase,
    private readonly redis: TestRedis,
    readonly connection: Redis,
  ) {
    const open = (name: JobQueue): [JobQueue, Queue] => [name, new Queue(name, { connection, prefix: JOBS_PREFIX })];
    this.queues = new Map([open('email'), open('push'), open('push-priority')]);
  }

  static async open(settings: Record<string, string>): Promise<JobsAtWork> {
    const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
    const monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url, ...settings });
    return new JobsAtWork(monolith, database, redis, new Redis(redis.url, { maxRetriesPerRequest: null }));
  }

  async reset(): Promise<void> {
    await this.redis.flush();
    await this.sql('truncate jobs, outbox, queued_jobs, job_interventions');
    await this.sql(`do $$ declare t text; begin
      for t in select tablename from pg_tables where schemaname = 'bullmq' and tablename like '%job%' loop
        execute format('truncate bullmq.%I cascade', t);
      end loop; end $$`);
  }

  /** Stops all workers. A job that hangs goes back to its queue. */
  async stopWork(): Promise<void> {
    const { workers } = this;
    this.workers = [];
    await Promise.all(workers.map((worker) => worker.stop(50)));
  }

  async close(): Promise<void> {
    await this.stopWork();
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
    await this.connection.quit();
    await this.monolith.close();
    await Promise.all([this.database.close(), this.redis.close()]);
  }

  sql<T>(text: string, values: unknown[] = []): Promise<T[]> {
    return this.monolith.dataSource.query(text, values);
  }

  /** Adds a mail or push to its queue. Returns its id. */
  async queue(name: JobQueue, job: { readonly job_id: string; readonly template: string }): Promise<string> {
    await this.queues.get(name)?.add(job.template, job, notificationJobOptions(job.job_id));
    return job.job_id;
  }

  /** Starts a worker for a queue; it runs until `stopWork`. */
  work(name: JobQueue, handle: () => Promise<string>, retrySeconds: readonly number[] = []): void {
    const consumer = new QueueConsumer<{ template: string }>({
      ...{ queue: name, prefix: JOBS_PREFIX, connection: this.connection, concurrency: 1, logger, handle, retrySeconds },
      schema: queueSchemas[name] as z.ZodType<{ template: string }>,
      onDeadLetter: () => undefined,
      isOutage: () => false,
    });
    consumer.start();
    this.workers.push(consumer);
  }

  /** Creates a general job through the outbox. Returns its id. */
  async put(fields: Record<string, unknown> = {}): Promise<string> {
    const job = { class: TEST_CLASS, ...fields };
    await this.monolith.get(TransactionManager).run((tx) => this.monolith.get(Jobs).put(tx, [job]));
    await this.relay('jobs');
    return (await this.sql<{ id: string }>('select id from jobs order by id desc limit 1'))[0]?.id ?? '';
  }

  /** The same as `work` for general jobs. */
  workGeneral(prepare: () => Promise<unknown>, retrySeconds: readonly number[] = []): void {
    const runner = new JobRunner({
      transport: this.monolith.app.get<JobTransport>(JOB_TRANSPORT, { strict: false }),
      ledger: this.monolith.get(JobLedger),
      transactions: this.monolith.get(TransactionManager),
      kinds: [
        { schema: z.looseObject({ class: z.string() }), handler: { class: TEST_CLASS, prepare, work: async () => undefined } },
      ],
      ...{ concurrency: 1, logger, retrySeconds },
    });
    runner.start();
    this.workers.push(runner);
  }

  /** Inserts a message for this destination, parked after a failed delivery. Returns its id. */
  async park(event: string, body: unknown, error: string): Promise<string> {
    const id = newId();
    const failures = JSON.stringify([{ at: new Date().toISOString(), error }]);
    await this.sql(
      `insert into outbox (id, destination, event, body, attempts, last_error, failures, parked_at) values ($1, 'email', $2, $3, 10, $4, $5, now())`,
      [id, event, JSON.stringify(body), error, failures],
    );
    return id;
  }

  async relay(destination: string): Promise<number> {
    const relay = this.monolith.get(OutboxRelays).relays.find((each) => each.destination.name === destination);
    let sum = 0;
    for (let relayed = 1; relayed > 0; sum += relayed) relayed = (await relay?.runOnce()) ?? 0;
    return sum;
  }
}

/** A mail about a refund. */
export function refundMail(order: string, recipient = 'ana.horvat@example.hr'): EmailJob {
  return emailJob.parse({
    ...{ type: 'email', job_id: newId(), created_at: new Date().toISOString(), recipient, template: 'refund' },
    payload: { order_id: order, match_name: 'Hrvatska – Italija', total_amount: '€20.00' },
  });
}

/** A push to one fan about the line. */
export function turnPush(userId: string, template = 'queue_your_turn', data: Record<string, string> = {}) {
  return {
    ...{ type: 'push', job_id: newId(), created_at: new Date().toISOString(), attempts: 0, max_attempts: 3, template },
    ...{ user_id: userId, fcm_tokens: ['phone-of-ana'], payload: { title: 'T', body: 'B', data }, priority: 'high' },
  } as const;
}

export async function until(condition: () => Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error(`Not true within ${timeoutMs} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
