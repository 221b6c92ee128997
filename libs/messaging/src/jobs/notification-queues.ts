import { broadcastBundle, broadcastJob, jobQueues, jobsOfBundle, type JobQueue } from '#contracts/queue-jobs';
import type { JobState } from '#contracts/jobs';
import type { Job, Queue } from 'bullmq';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { failedAttempts, type FailedAttempt } from './failed-attempts.ts';
import { countsOf, stateOf, typesOf, type JobCounts } from './job-transport.ts';
import { openQueues } from './open-queues.ts';
import { templateOf } from './queue-consumer.ts';
import { isUuid } from './queued-jobs.ts';

/**
 * Maximum number of jobs that are listed from each state of each queue; the newest are listed. A mass mailing leaves hundreds of
 * thousands of waiting and completed jobs, and Redis must not stand still while an operator looks at them. The failed ones must
 * all be in the list, because operators retry them by it.
 */
const MAX_LISTED_JOBS = { failed: 50_000, others: 5_000 };

/** A device of a broadcast: its number among all devices of that broadcast. */
export interface BroadcastDevice {
  readonly broadcastId: string;
  readonly ordinal: number;
}

/** A mail or push in its queue, as operators see it. */
export interface QueuedNotification {
  readonly id: string;
  readonly queue: JobQueue;
  readonly template: string;
  readonly state: JobState;
  /** The failed attempts, newest first. */
  readonly attempts: readonly FailedAttempt[];
  readonly createdAt: Date;
  readonly payload: unknown;
}

/** The id of a job and the state in which it was listed. */
export interface ListedJob {
  readonly id: string;
  readonly state: JobState;
}

/** The mail and push queues as operators see them: list, find, retry, drop and count jobs. */
export class NotificationQueues {
  private readonly connection: RedisConnection;
  private readonly queues: ReadonlyMap<JobQueue, Queue>;

  constructor(
    redisUrl: string,
    private readonly lookups: {
      /**
       * The number of jobs inside bundles (many jobs of a broadcast as one). Redis does not count them: for Redis a bundle is one
       * job.
       */
      inBundles(queue: JobQueue): Promise<number>;
      /**
       * Finds the fan's devices in broadcasts. Jobs of a broadcast contain ranges of devices and no fan, so a search for a fan
       * needs this function.
       */
      devicesOf(userId: string): Promise<readonly BroadcastDevice[]>;
    },
  ) {
    this.connection = connectRedis(redisUrl, { name: 'jobs-console' });
    this.queues = openQueues(jobQueues, this.connection);
  }

  /**
   * The ids of the jobs of a queue that are in these states. `alsoId` is listed if it exists, even if so many jobs are newer that
   * it would be left out. A job that changes its state meanwhile is listed once.
   */
  async ids(name: JobQueue, states: readonly JobState[], alsoId?: string): Promise<ListedJob[]> {
    const queue = this.queues.get(name);
    if (!queue) return [];
    const lists = states.flatMap((state) => typesOf[state].map((type) => ({ state, type })));
    const read = async (wanted: typeof lists, max: number): Promise<[string, JobState][]> => {
      if (wanted.length === 0) return [];
      // One script of BullMQ reads all lists, so a job that is just being moved is not missed between two of them.
      const found: readonly (readonly string[])[] = await queue.getBackend().getRanges(
        wanted.map(({ type }) => type),
        0,
        max - 1,
        false,
      );
      return found.flatMap((ids, index) => ids.map((id): [string, JobState] => [id, wanted[index]?.state ?? 'waiting']));
    };
    const [others, failed, also] = await Promise.all([
      read(
        lists.filter(({ state }) => state !== 'failed'),
        MAX_LISTED_JOBS.others,
      ),
      read(
        lists.filter(({ state }) => state === 'failed'),
        MAX_LISTED_JOBS.failed,
      ),
      alsoId === undefined ? undefined : stateIn(queue, alsoId),
    ]);
    const known = new Map([...others, ...failed]);
    if (alsoId !== undefined && also !== undefined && states.includes(also)) known.set(alsoId, also);
    return [...known].map(([id, state]) => ({ id, state }));
  }

  /** Reads the listed jobs, in their order. A job that was removed since it was listed is left out. */
  async read(name: JobQueue, listed: readonly ListedJob[]): Promise<QueuedNotification[]> {
    const queue = this.queues.get(name);
    const jobs = await Promise.all(listed.map(({ id }) => queue?.getJob(id) as Promise<Job | undefined>));
    return listed.flatMap(({ state }, index) => {
      const job = jobs[index];
      return job?.id ? [view(name, state, job)] : [];
    });
  }

  /**
   * Returns a test of a job: does it reach a device of this fan as a part of a broadcast? Jobs of a broadcast do not name the
   * fan.
   */
  async reaches(text: string): Promise<(job: Pick<QueuedNotification, 'payload'>) => boolean> {
    const devices = isUuid(text) ? await this.lookups.devicesOf(text) : [];
    return (job) => reachesAny(job, devices);
  }

  async find(id: string): Promise<QueuedNotification | undefined> {
    for (const [name, queue] of this.queues) {
      const job = (await queue.getJob(id)) as Job | undefined;
      const state = stateOf(await job?.getState());
      if (job && state) return view(name, state, job);
    }
    return undefined;
  }

  /** Retries a dead letter; all its attempts start again. Does nothing when the job is not in the state `failed` any more. */
  async retry(queue: string, id: string): Promise<void> {
    const job = (await this.queues.get(queue as JobQueue)?.getJob(id)) as Job | undefined;
    if (job && (await job.getState()) === 'failed') await job.retry('failed', { resetAttemptsMade: true });
  }

  /** Deletes the job. Returns false when a worker is doing it. A job that no longer exists counts as deleted. */
  async drop(queue: string, id: string): Promise<boolean> {
    const job = (await this.queues.get(queue as JobQueue)?.getJob(id)) as Job | undefined;
    if (!job) return true;
    try {
      await job.remove();
      return true;
    } catch (error) {
      // BullMQ refuses to remove a job that a worker has locked.
      if ((await job.getState()) === 'active') return false;
      throw error;
    }
  }

  async counts(): Promise<ReadonlyMap<JobQueue, JobCounts>> {
    const counted = [...this.queues].map(async ([name, queue]) => {
      const [counts, inBundles] = await Promise.all([countsOf(queue), this.lookups.inBundles(name)]);
      return [name, { ...counts, waiting: counts.waiting + inBundles }] as const;
    });
    return new Map(await Promise.all(counted));
  }

  /** Returns the creation time of the oldest waiting job. */
  async oldestWaiting(queue: JobQueue): Promise<Date | undefined> {
    const [job] = (await this.queues.get(queue)?.getJobs(['waiting', 'prioritized'], 0, 0, true)) ?? [];
    return job ? new Date(job.timestamp) : undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close().catch(() => undefined)));
    await closeRedis(this.connection);
  }
}

async function stateIn(queue: Queue, id: string): Promise<JobState | undefined> {
  const job = (await queue.getJob(id)) as Job | undefined;
  return stateOf(await job?.getState());
}

function view(queue: JobQueue, state: JobState, job: Job): QueuedNotification {
  const template = templateOf(job.data);
  return {
    id: job.id ?? '',
    queue,
    template: typeof template === 'string' ? template : job.name,
    state,
    attempts: failedAttempts(job.stacktrace, job.failedReason),
    createdAt: new Date(job.timestamp),
    payload: job.data,
  };
}

/** True if the job is a part of a broadcast, or a bundle of such parts, whose ranges contain one of the devices. */
function reachesAny({ payload }: Pick<QueuedNotification, 'payload'>, devices: readonly BroadcastDevice[]): boolean {
  if (devices.length === 0) return false;
  const bundle = broadcastBundle.safeParse(payload);
  const jobs = bundle.success ? jobsOfBundle(bundle.data) : [payload];
  return jobs.some((job) => {
    const range = broadcastJob.safeParse(job);
    if (!range.success) return false;
    const { broadcast_id, range: part } = range.data;
    return devices.some(({ broadcastId, ordinal }) => broadcastId === broadcast_id && ordinal >= part.from && ordinal < part.to);
  });
}
