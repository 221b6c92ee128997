import { jobQueues } from '#contracts/queue-jobs';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { Job, Queue } from 'bullmq';
import { openQueues } from './open-queues.ts';
import { typesOf } from './job-transport.ts';

/** Jobs that are read at once. */
const PAGE_SIZE = 500;

/**
 * Removes the mails and pushes that `isWanted` names, in any state, from their queues. Returns how many are left because a worker is sending
 * them. Reads all jobs.
 */
export async function removeJobs(redis: RedisConnection, isWanted: (payload: unknown) => boolean): Promise<number> {
  const queues = openQueues(jobQueues, redis);
  let left = 0;
  try {
    for (const queue of queues.values()) {
      for (const job of await wantedJobs(queue, isWanted)) if (!(await isRemoved(job))) left += 1;
    }
    return left;
  } finally {
    await Promise.all([...queues.values()].map((queue) => queue.close()));
  }
}

/** Newest first: jobs that come or end meanwhile move the others to later pages, so none is missed. */
async function wantedJobs(queue: Queue, isWanted: (payload: unknown) => boolean): Promise<Job[]> {
  const wanted: Job[] = [];
  for (const type of Object.values(typesOf).flat()) {
    for (let start = 0; ; start += PAGE_SIZE) {
      const page = (await queue.getJobs([type], start, start + PAGE_SIZE - 1, false)) as (Job | undefined)[];
      // A job that was removed meanwhile is undefined.
      wanted.push(...page.filter((job) => job !== undefined).filter(({ data }) => isWanted(data)));
      if (page.length < PAGE_SIZE) break;
    }
  }
  return wanted;
}

async function isRemoved(job: Job): Promise<boolean> {
  try {
    await job.remove();
    return true;
  } catch (error) {
    // BullMQ refuses to remove a job that a worker has locked.
    if ((await job.getState()) === 'active') return false;
    throw error;
  }
}
