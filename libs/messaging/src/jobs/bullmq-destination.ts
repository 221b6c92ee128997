import { queueSchemas, type JobQueue } from '#contracts/queue-jobs';
import type { Queue } from 'bullmq';
import { notificationJob } from './job-policy.ts';
import { openQueue } from './open-queues.ts';
import { describeIssues } from './queue-consumer.ts';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { Delivery, Destination, RelayedMessage } from '../outbox/destination.ts';

/**
 * Minimum number of outbox rows of a broadcast that are sent together as one job (a bundle). With fewer rows a bundle costs more
 * than it saves, because a worker has to unpack it.
 */
const MIN_ROWS_FOR_BUNDLES = 4;

/**
 * Delivers outbox messages to one of the mail and push queues. The body of a message is the job, and the id of the message is the
 * id of the job.
 */
export class BullmqDestination implements Destination {
  readonly batchSize = 1000;
  readonly keepsCopy = true;
  readonly refusesStale = true;
  readonly minRowsForBundles?: number;
  private readonly queue: Queue;

  constructor(
    readonly name: JobQueue,
    connection: RedisConnection,
  ) {
    if (name === 'push') this.minRowsForBundles = MIN_ROWS_FOR_BUNDLES;
    this.queue = openQueue(name, connection);
  }

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const deliveries = messages.map((message): Delivery => this.check(message));
    const ready = messages.filter((_, index) => deliveries[index]?.outcome === 'delivered');
    if (ready.length > 0) {
      const jobs = ready.map(({ id, body }) => notificationJob(id, body as { template: string }));
      await this.queue.addBulk(jobs);
    }
    return deliveries;
  }

  async close(): Promise<void> {
    await this.queue.close();
  }

  private check({ id, body }: RelayedMessage): Delivery {
    const parsed = queueSchemas[this.name].safeParse(body);
    if (parsed.success) return { id, outcome: 'delivered' };
    return { id, outcome: 'poison', error: `not a job of queue ${this.name}: ${describeIssues(parsed.error)}` };
  }
}
