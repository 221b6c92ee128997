import { JOBS_PREFIX, type EmailJob, type JobQueue, type PushJob } from '#contracts/queue-jobs';
import { loadConfig } from '#platform/config/load-config';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import { createLogger } from '#platform/logging/logger';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Queue, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { workerConfig } from '../config.ts';
import { createNotificationWorker } from '../notification-worker.ts';
import type { MailboxItem } from '#contracts/mailbox';

/** The notification worker in the process of the test, with its own database and Redis. */
export interface RunningWorker {
  readonly app: NestFastifyApplication;
  readonly databaseUrl: string;
  readonly redis: TestRedis;
  queue(name: JobQueue): Queue;
  /** Adds a job to a queue as the outbox relay of the monolith does. */
  publish(name: JobQueue, job: EmailJob | PushJob): Promise<Job>;
  mailbox(query: Record<string, string>): Promise<MailboxItem[]>;
  get(url: string): Promise<{ status: number; body: string; type: string }>;
  /** Stops the service as SIGTERM does: running jobs finish. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

interface Servers {
  readonly database: TestDatabase;
  readonly redis: TestRedis;
}

/**
 * Starts the real notification worker on its own database and Redis, or on `servers`. It processes jobs but listens on no port.
 */
export async function runWorker(
  settings: Record<string, string> = {},
  servers?: Servers,
  logger = createLogger({ service: 'test', level: 'silent' }),
): Promise<RunningWorker> {
  const [database, redis] = servers
    ? [servers.database, servers.redis]
    : await Promise.all([createTestDatabase(), createTestRedis()]);
  const config = loadConfig(workerConfig, {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    RATE_LIMIT_IP_PER_MINUTE: '0',
    ...settings,
  });
  const { app, start } = await createNotificationWorker(config, logger);
  await app.getHttpAdapter().getInstance().ready();
  start();

  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  const queues = new Map<JobQueue, Queue>();
  const queue = (name: JobQueue): Queue => {
    const known = queues.get(name) ?? new Queue(name, { connection, prefix: JOBS_PREFIX });
    queues.set(name, known);
    return known;
  };
  const get = async (url: string) => {
    const answer = await app.inject({ method: 'GET', url });
    return { status: answer.statusCode, body: answer.body, type: String(answer.headers['content-type']) };
  };
  let drained: Promise<void> | undefined;
  const drain = (): Promise<void> => (drained ??= app.close());
  return {
    app,
    databaseUrl: database.url,
    redis,
    queue,
    publish: (name, job) => queue(name).add(job.template, job, notificationJobOptions(job.job_id)),
    get,
    mailbox: async (query) => {
      const { body } = await get(`/mailbox?${new URLSearchParams(query).toString()}`);
      return (JSON.parse(body) as { items: MailboxItem[] }).items;
    },
    drain,
    close: async () => {
      await drain();
      await Promise.all([...queues.values()].map((open) => open.close()));
      await connection.quit();
      if (!servers) await Promise.all([database.close(), redis.close()]);
    },
  };
}

/** Calls `ask` until its result is truthy, so that a test waits for an event and not for a fixed time. */
export async function eventually<T>(ask: () => Promise<T | undefined | false>, withinMs = 10_000): Promise<T> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > giveUpAt) throw new Error(`Not true within ${withinMs} ms: ${ask.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until BullMQ reports this state of the job, for example `completed`. */
export const inState = (job: Job, state: string, withinMs?: number): Promise<true> =>
  eventually(async () => (await job.getState()) === state, withinMs);
