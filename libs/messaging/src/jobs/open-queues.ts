import { JOBS_PREFIX, type JobQueue } from '#contracts/queue-jobs';
import { Queue } from 'bullmq';
import type { RedisConnection } from '#platform/redis/redis-connection';

/**
 * Opens a queue of mails or pushes. Without a listener an error event would end the process. Each call on the queue reports its own
 * error, so nothing is logged here.
 */
export function openQueue(name: string, connection: RedisConnection, prefix = JOBS_PREFIX): Queue {
  const queue = new Queue(name, { connection, prefix, skipVersionCheck: true });
  queue.on('error', () => undefined);
  return queue;
}

/** Opens several queues of mails or pushes. */
export function openQueues(names: readonly JobQueue[], connection: RedisConnection): ReadonlyMap<JobQueue, Queue> {
  return new Map(names.map((name) => [name, openQueue(name, connection)]));
}
