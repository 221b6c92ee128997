import { broadcastBundle, broadcastJob, JOBS_PREFIX, jobQueues, jobsIn, type JobQueue } from '#contracts/queue-jobs';
import { Queue, type Job, type JobType } from 'bullmq';
import { closeRedis, connectRedis, type RedisConnection } from '../redis/redis-connection.ts';
import { failedAttempts, type FailedAttempt } from './failed-attempts.ts';
import { stateOf, type JobState } from './job-transport.ts';

/** What a search looks through, of each state of each queue, newest first: a page for people, not a database. */
const LOOKED_THROUGH = 1000;

const typesOf: Readonly<Record<JobState, readonly JobType[]>> = {
  waiting: ['waiting', 'prioritized'],
  delayed: ['delayed'],
  active: ['active'],
  completed: ['completed'],
  failed: ['failed'],
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface BroadcastDevice {
  readonly broadcastId: string;
  readonly ordinal: number;
}

export interface QueuedNotification {
  readonly id: string;
  readonly queue: JobQueue;
  readonly template: string;
  readonly state: JobState;
  /** Newest first. */
  readonly attempts: readonly FailedAttempt[];
  readonly createdAt: Date;
  readonly payload: unknown;
}

export interface NotificationFilter {
  readonly queue?: JobQueue;
  readonly state?: JobState;
  readonly text?: string;
}

/** The queues of mails and pushes, to people who look after them. */
export class NotificationQueues {
  private readonly connection: RedisConnection;
  private readonly queues: ReadonlyMap<JobQueue, Queue>;

  constructor(
    redisUrl: string,
    private readonly known: {
      /** How many jobs wait in bundles, which are one job each in Redis, besides those. */
      inBundles?(queue: JobQueue): Promise<number>;
      /** Which devices of which broadcasts are a fan's: the jobs of a broadcast name nobody. */
      devicesOf?(userId: string): Promise<readonly BroadcastDevice[]>;
    } = {},
  ) {
    this.connection = connectRedis(redisUrl, { name: 'jobs-console' });
    this.queues = new Map(
      jobQueues.map((name) => {
        const queue = new Queue(name, { connection: this.connection, prefix: JOBS_PREFIX, skipVersionCheck: true });
        queue.on('error', () => undefined);
        return [name, queue];
      }),
    );
  }

  async list({ queue, state, text }: NotificationFilter): Promise<QueuedNotification[]> {
    const names = queue ? [queue] : jobQueues;
    const states = state ? [state] : (Object.keys(typesOf) as JobState[]);
    const found = await Promise.all(names.flatMap((name) => states.map((each) => this.inState(name, each))));
    const wanted = text?.toLowerCase();
    const devices = wanted && UUID.test(wanted) ? ((await this.known.devicesOf?.(wanted)) ?? []) : [];
    return found
      .flat()
      .filter((job) => !wanted || job.id.toLowerCase() === wanted || says(job, wanted) || reachesAny(job, devices));
  }

  async find(id: string): Promise<QueuedNotification | undefined> {
    for (const [name, queue] of this.queues) {
      const job = (await queue.getJob(id)) as Job | undefined;
      const state = stateOf(await job?.getState());
      if (job && state) return view(name, state, job);
    }
    return undefined;
  }

  /** From the beginning, with all its attempts before it. Nothing happens to a job that is not in the dead letter any more. */
  async retry(queue: string, id: string): Promise<void> {
    const job = (await this.queues.get(queue as JobQueue)?.getJob(id)) as Job | undefined;
    if (job && (await job.getState()) === 'failed') await job.retry('failed', { resetAttemptsMade: true });
  }

  /** False when a worker has it in hand. */
  async drop(queue: JobQueue, id: string): Promise<boolean> {
    const job = (await this.queues.get(queue)?.getJob(id)) as Job | undefined;
    if (!job || (await job.getState()) === 'active') return false;
    await job.remove();
    return true;
  }

  async counts(): Promise<ReadonlyMap<JobQueue, Readonly<Record<JobState, number>>>> {
    const counted = [...this.queues].map(async ([name, queue]) => {
      const [raw, inBundles] = await Promise.all([
        queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'completed', 'failed'),
        this.known.inBundles?.(name) ?? 0,
      ]);
      const of = (state: JobState): number => typesOf[state].reduce((sum, type) => sum + (raw[type] ?? 0), 0);
      const counts = {
        waiting: of('waiting') + inBundles,
        delayed: of('delayed'),
        active: of('active'),
        completed: of('completed'),
        failed: of('failed'),
      };
      return [name, counts] as const;
    });
    return new Map(await Promise.all(counted));
  }

  /** When the one that has waited longest was put in. */
  async oldestWaiting(queue: JobQueue): Promise<Date | undefined> {
    const [job] = (await this.queues.get(queue)?.getJobs(['waiting', 'prioritized'], 0, 0, true)) ?? [];
    return job ? new Date(job.timestamp) : undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close().catch(() => undefined)));
    await closeRedis(this.connection);
  }

  private async inState(name: JobQueue, state: JobState): Promise<QueuedNotification[]> {
    const jobs = (await this.queues.get(name)?.getJobs([...typesOf[state]], 0, LOOKED_THROUGH - 1, false)) ?? [];
    // A job that went away between the two looks is null.
    return (jobs as (Job | null | undefined)[]).flatMap((job) => (job?.id ? [view(name, state, job)] : []));
  }
}

function view(queue: JobQueue, state: JobState, job: Job): QueuedNotification {
  const data = job.data as { template?: unknown } | null;
  return {
    id: job.id ?? '',
    queue,
    template: typeof data?.template === 'string' ? data.template : job.name,
    state,
    attempts: failedAttempts(job.stacktrace, job.failedReason),
    createdAt: new Date(job.timestamp),
    payload: job.data,
  };
}

function says(job: QueuedNotification, text: string): boolean {
  return JSON.stringify(job.payload).toLowerCase().includes(text);
}

/** A range of a broadcast, or a bundle of them, in which one of the devices stands. */
function reachesAny({ payload }: QueuedNotification, devices: readonly BroadcastDevice[]): boolean {
  if (devices.length === 0) return false;
  const bundle = broadcastBundle.safeParse(payload);
  const jobs = bundle.success ? jobsIn(bundle.data) : [payload];
  return jobs.some((job) => {
    const range = broadcastJob.safeParse(job);
    if (!range.success) return false;
    const { broadcast_id, range: part } = range.data;
    return devices.some(({ broadcastId, ordinal }) => broadcastId === broadcast_id && ordinal >= part.from && ordinal < part.to);
  });
}
