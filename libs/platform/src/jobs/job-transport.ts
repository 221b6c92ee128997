import { createPostgresBackend, Queue, runMigrations, Worker, type Job, type JobsOptions, type PgPool } from 'bullmq';
import { Pool } from 'pg';
import { closeRedis, connectRedis, type RedisConnection } from '../redis/redis-connection.ts';
import { keptJobs } from './job-policy.ts';
import { RedisWorker, type OpenWorker } from './queue-consumer.ts';

export type TransportName = 'redis' | 'postgres';
export type JobState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed';

/** Seconds before the second, third and fourth attempt of a general job; then it is set aside. */
export const JOB_RETRY_SECONDS = [1, 5, 30] as const;
export const GENERAL_QUEUE = 'jobs';
/** Its own slot of a cluster, away from the notifications' `{notification}`. */
const PREFIX = '{jobs}';
/** The relay adds and the console looks; a worker listens on one connection and moves jobs on the others. */
const CONNECTIONS = 4;
const SCHEMA = 'bullmq';
const AT_ONCE = 50;

const OPTIONS: JobsOptions = {
  attempts: 1 + JOB_RETRY_SECONDS.length,
  backoff: { type: 'custom' },
  removeOnComplete: keptJobs.removeOnComplete as JobsOptions['removeOnComplete'],
  removeOnFail: keptJobs.removeOnFail as JobsOptions['removeOnFail'],
};

/**
 * What carries jobs to those who do them: in turn, again after a failure, and to somebody else when a worker died. It carries
 * their ids only; what they are stands in the table `jobs`, so losing it costs time and nothing else.
 */
export interface JobTransport {
  readonly name: TransportName;
  /** Known ids are left alone, so that a job is there once however often it is added. */
  add(jobs: readonly { readonly id: string; readonly class: string }[]): Promise<void>;
  /** Where these jobs stand; unknown ones are missing. */
  states(ids: readonly string[]): Promise<ReadonlyMap<string, JobState>>;
  remove(ids: readonly string[]): Promise<void>;
  counts(): Promise<Readonly<Record<JobState, number>>>;
  readonly openWorker: OpenWorker;
  close(): Promise<void>;
}

type AnyQueue = Pick<Queue, 'addBulk' | 'getJobCounts' | 'close'> & { getJob(id: string): Promise<Job | undefined> };

class BullmqTransport implements JobTransport {
  constructor(
    readonly name: TransportName,
    private readonly queue: AnyQueue,
    readonly openWorker: OpenWorker,
    private readonly closeConnections: () => Promise<void>,
  ) {}

  async add(jobs: readonly { readonly id: string; readonly class: string }[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.queue.addBulk(
      jobs.map(({ id, class: name }) => ({ name, data: { job_id: id }, opts: { ...OPTIONS, jobId: id } })),
    );
  }

  async states(ids: readonly string[]): Promise<ReadonlyMap<string, JobState>> {
    const states = new Map<string, JobState>();
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      await Promise.all(
        some.map(async (id) => {
          const state = stateOf(await (await this.queue.getJob(id))?.getState());
          if (state) states.set(id, state);
        }),
      );
    }
    return states;
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) await (await this.queue.getJob(id))?.remove();
  }

  async counts(): Promise<Readonly<Record<JobState, number>>> {
    const counts = await this.queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'completed', 'failed');
    const count = (...names: string[]): number => names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
    return {
      waiting: count('waiting', 'prioritized'),
      delayed: count('delayed'),
      active: count('active'),
      completed: count('completed'),
      failed: count('failed'),
    };
  }

  async close(): Promise<void> {
    await this.queue.close().catch(() => undefined);
    await this.closeConnections();
  }
}

/** BullMQ's words for it in ours. */
export function stateOf(state: string | undefined): JobState | undefined {
  switch (state) {
    case 'waiting':
    case 'delayed':
    case 'active':
    case 'completed':
    case 'failed':
      return state;
    case 'prioritized':
    case 'waiting-children':
    case 'paused':
      return 'waiting';
    default:
      return undefined;
  }
}

export function redisTransport(redisUrl: string): JobTransport {
  const opened: RedisConnection[] = [];
  const connect = (name: string, forJobs: boolean): RedisConnection => {
    const connection = connectRedis(redisUrl, { name, forJobs });
    opened.push(connection);
    return connection;
  };
  const queue = new Queue(GENERAL_QUEUE, { connection: connect('jobs', false), prefix: PREFIX, skipVersionCheck: true });
  // Without a listener an error event ends the process; each call's own error tells enough.
  queue.on('error', () => undefined);
  const openWorker: OpenWorker = (process, options) =>
    new RedisWorker(GENERAL_QUEUE, process, { ...options, connection: connect('jobs-worker', true), prefix: PREFIX });
  return new BullmqTransport('redis', queue, openWorker, async () => {
    // Nothing is in flight on a worker's any more, and without Redis a polite QUIT would wait for ever.
    for (const connection of opened.slice(1)) connection.disconnect();
    if (opened[0]) await closeRedis(opened[0]);
  });
}

/** BullMQ's own PostgreSQL backend. It brings its schema up to date itself, under a lock of its own. */
export async function postgresTransport(databaseUrl: string): Promise<JobTransport> {
  const pools: Pool[] = [];
  // BullMQ can open pools itself, but not in a process of ES modules.
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
  return new BullmqTransport('postgres', queue, openWorker, async () => {
    await Promise.all(pools.map((pool) => pool.end().catch(() => undefined)));
  });
}
