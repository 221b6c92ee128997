import { jobQueues } from '#contracts/queue-jobs';
import { BullmqDestination } from '#messaging/jobs/bullmq-destination';
import type { Destination } from '#messaging/outbox/destination';
import { StreamDestination } from '#messaging/outbox/stream-destination';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';

/**
 * All destinations to which the relay delivers outbox messages: the notification queues, the event stream, and the destinations
 * of the contexts.
 */
export class OutboxDestinations {
  readonly all: readonly Destination[];
  private readonly queues: readonly BullmqDestination[];
  /** The relay's own connection, because the relay may wait for Redis but requests may not. */
  private readonly producer: RedisConnection;

  constructor(redisUrl: string, redis: RedisConnection, ofContexts: readonly Destination[]) {
    this.producer = connectRedis(redisUrl, { name: 'relay' });
    this.queues = jobQueues.map((name) => new BullmqDestination(name, this.producer));
    this.all = [...this.queues, new StreamDestination(redis), ...ofContexts];
  }

  async close(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.close()));
    await closeRedis(this.producer);
  }
}
