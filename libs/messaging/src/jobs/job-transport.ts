import { createPostgresBackend, Queue, runMigrations, Worker, type Job, type JobsOptions, type PgPool } from 'bullmq';
import { Pool } from 'pg';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import type { JobState } from '#contracts/jobs';
import { jobRetention } from './job-policy.ts';
import { openQueue } from './open-queues.ts';
import { RedisWorker, type OpenWorker } from './queue-consumer.ts';

/** Where general background jobs are queued (setting JOBS_TRANSPORT). */
export type TransportName = 'redis' | 'postgres';

/**
 * Seconds before the second, third and fourth attempt of a general job. When the fourth attempt fails, the job has failed for
 * good.
 */
export const JOB_RETRY_SECONDS = [1, 5, 30] as const;
/** The BullMQ queue of general background jobs: all jobs except mails and pushes. */
export const GENERAL_QUEUE = 'jobs';
/** Key prefix with a Redis Cluster hash tag: general jobs are in another slot than mails and pushes (`{notification}`). */
const PREFIX = '{jobs}';
/**
 * Number of connections in each PostgreSQL pool. One pool adds jobs for the relay and reads jobs for operators. Each worker has a
 * pool: on one connection it listens for new jobs, on the other three it changes the states of jobs.
 */
const CONNECTIONS = 4;
const SCHEMA = 'bullmq';
/** Maximum number of jobs that are read or changed in parallel, so that a page of jobs does not flood the server. */
const MAX_PARALLEL = 50;

const OPTIONS: JobsOptions = {
  attempts: 1 + JOB_RETRY_SECONDS.length,
  backoff: { type: 'custom' },
  ...jobRetention,
};

type AnyQueue = Pick<Queue, 'addBulk' | 'getJobCounts' | 'close'> & { getJob(id: string): Promise<Job | undefined> };

/**
 * Brings general background jobs to workers (BullMQ in Redis or PostgreSQL): in order, again after a failure, and to another
 * worker when a worker died. It holds only the ids of jobs; their content is in the table `jobs`. So when the transport loses its
 * data, jobs are delayed but not lost.
 */
export class JobTransport {
  constructor(
    readonly name: TransportName,
    private readonly queue: AnyQueue,
    readonly openWorker: OpenWorker,
    private readonly closeConnections: () => Promise<void>,
  ) {}

  /** Adds jobs. An id that the transport already has is ignored, so adding a job twice makes one job. */
  async add(jobs: readonly { readonly id: string; readonly class: string }[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.queue.addBulk(
      jobs.map(({ id, class: name }) => ({ name, data: { job_id: id }, opts: { ...OPTIONS, jobId: id } })),
    );
  }

  /** Returns the states of these jobs. Jobs that the transport does not know are missing in the result. */
  async states(ids: readonly string[]): Promise<ReadonlyMap<string, JobState>> {
    const states = new Map<string, JobState>();
    await inParallel(ids, async (id) => {
      const state = stateOf(await (await this.queue.getJob(id))?.getState());
      if (state) states.set(id, state);
    });
    return states;
  }

  remove(ids: readonly string[]): Promise<void> {
    return inParallel(ids, async (id) => await (await this.queue.getJob(id))?.remove());
  }

  counts(): Promise<JobCounts> {
    return countsOf(this.queue);
  }

  async close(): Promise<void> {
    await this.queue.close().catch(() => undefined);
    await this.closeConnections();
  }
}

/** Does something with each job, at most `MAX_PARALLEL` at a time. */
export async function inParallel<T>(jobs: readonly T[], work: (job: T) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < jobs.length; start += MAX_PARALLEL) {
    await Promise.all(jobs.slice(start, start + MAX_PARALLEL).map(work));
  }
}

/** BullMQ's states whose jobs we show in each of our states. */
export const typesOf = {
  waiting: ['waiting', 'prioritized'],
  delayed: ['delayed'],
  active: ['active'],
  completed: ['completed'],
  failed: ['failed'],
} as const satisfies Record<JobState, unknown>;
/** How many jobs a queue has in each state. */
export type JobCounts = Record<JobState, number>;

/** Maps BullMQ's state names to ours; undefined for an unknown job. */
export function stateOf(state: string | undefined): JobState | undefined {
  if (state === 'prioritized' || state === 'waiting-children' || state === 'paused') return 'waiting';
  return state !== undefined && state in typesOf ? (state as JobState) : undefined;
}

/** Counts the jobs of a queue by state. */
export async function countsOf(queue: Pick<Queue, 'getJobCounts'>): Promise<JobCounts> {
  const counts = await queue.getJobCounts(...Object.values(typesOf).flat());
  const sums = Object.entries(typesOf).map(([state, types]) => [
    state,
    types.reduce((sum, type) => sum + (counts[type] ?? 0), 0),
  ]);
  return Object.fromEntries(sums) as JobCounts;
}

/** Opens the job transport in Redis. */
export function redisTransport(redisUrl: string): JobTransport {
  const opened: RedisConnection[] = [];
  const connect = (name: string, forJobs: boolean): RedisConnection => {
    const connection = connectRedis(redisUrl, { name, forJobs });
    opened.push(connection);
    return connection;
  };
  const queue = openQueue(GENERAL_QUEUE, connect('jobs', false), PREFIX);
  const openWorker: OpenWorker = (process, options) =>
    new RedisWorker(GENERAL_QUEUE, process, { ...options, connection: connect('jobs-worker', true), prefix: PREFIX });
  return new JobTransport('redis', queue, openWorker, async () => {
    // `closeConnections` runs after the workers have ended, so their connections are cut. Without Redis a QUIT would wait for
    // ever.
    for (const connection of opened.slice(1)) connection.disconnect();
    if (opened[0]) await closeRedis(opened[0]);
  });
}

/** Opens the job transport in PostgreSQL. BullMQ migrates its own schema there, under its own lock. */
export async function postgresTransport(databaseUrl: string): Promise<JobTransport> {
  const pools: Pool[] = [];
  // BullMQ cannot open pools itself in a process that uses ES modules.
  const openPool = (name: string): PgPool => {
    const pool = new Pool({
      connectionString: databaseUrl,
      application_name: `tribina-${name}`,
      max: CONNECTIONS,
      connectionTimeoutMillis: 2000,
      keepAlive: true,
      options: `-c search_path=${SCHEMA}`,
    });
    pool.on('error', () => undefined);
    pools.push(pool);
    return pool as unknown as PgPool;
  };
  const connection = openPool('jobs');
  await runMigrations(connection, SCHEMA);
  const queue = new Queue(GENERAL_QUEUE, { connection } as never, createPostgresBackend as never);
  queue.on('error', () => undefined);
  const openWorker: OpenWorker = (process, options) =>
    new Worker<unknown, string>(
      GENERAL_QUEUE,
      process,
      { ...options, connection: openPool('jobs-worker') } as never,
      createPostgresBackend as never,
    );
  return new JobTransport('postgres', queue, openWorker, async () => {
    await Promise.all(pools.map((pool) => pool.end().catch(() => undefined)));
  });
}
