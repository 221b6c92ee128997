import { broadcastBundle, broadcastJob, jobQueues, jobsOfBundle, type JobQueue } from '#contracts/queue-jobs';
import type { JobState } from '#contracts/jobs';
import type { Job, Queue } from 'bullmq';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { failedAttempts, type FailedAttempt } from './failed-attempts.ts';
import { countsOf, stateOf, typesOf, type JobCounts } from './job-transport.ts';
import { openQueues } from './open-queues.ts';
import { templateOf } from './queue-consumer.ts';
import { isUuid } from './queued-jobs.ts';

/** Maximum number of jobs that a search reads from each state of each queue. The newest jobs are read. */
const MAX_SEARCHED_JOBS = 1000;

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

/** What an operator searches for. Omitted fields match everything. */
export interface NotificationFilter {
  readonly queue?: JobQueue;
  readonly state?: JobState;
  readonly text?: string;
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

  async list({ queue, state, text }: NotificationFilter): Promise<QueuedNotification[]> {
    const names = queue ? [queue] : jobQueues;
    const states = state ? [state] : (Object.keys(typesOf) as JobState[]);
    const found = await Promise.all(names.flatMap((name) => states.map((each) => this.inState(name, each))));
    const searched = text?.toLowerCase();
    const devices = searched && isUuid(searched) ? await this.lookups.devicesOf(searched) : [];
    const contains = ({ id, payload }: QueuedNotification, part: string): boolean =>
      id.toLowerCase() === part || JSON.stringify(payload).toLowerCase().includes(part);
    return found.flat().filter((job) => !searched || contains(job, searched) || reachesAny(job, devices));
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

  /** Deletes the job. Returns false when the job does not exist or a worker is doing it. */
  async drop(queue: JobQueue, id: string): Promise<boolean> {
    const job = (await this.queues.get(queue)?.getJob(id)) as Job | undefined;
    if (!job || (await job.getState()) === 'active') return false;
    await job.remove();
    return true;
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

  private async inState(name: JobQueue, state: JobState): Promise<QueuedNotification[]> {
    const jobs = (await this.queues.get(name)?.getJobs([...typesOf[state]], 0, MAX_SEARCHED_JOBS - 1, false)) ?? [];
    // BullMQ reads ids first and then jobs. A job that is removed between these two reads is null.
    return (jobs as (Job | null | undefined)[]).flatMap((job) => (job?.id ? [view(name, state, job)] : []));
  }
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
function reachesAny({ payload }: QueuedNotification, devices: readonly BroadcastDevice[]): boolean {
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
