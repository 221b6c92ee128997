import { queueSchemas, JOBS_PREFIX, type JobQueue } from '#contracts/queue-jobs';
import { Queue } from 'bullmq';
import { notificationJobOptions } from './job-policy.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { Delivery, Destination, RelayedMessage } from '../outbox/destination.ts';

/** Fewer rows of a broadcast are not worth the way through a worker's hands. */
const BUNDLES_FROM = 4;

/** One of the notification queues: a message becomes the job it already is, under its own id. */
export class BullmqDestination implements Destination {
  readonly batchSize = 1000;
  readonly keepsCopy = true;
  readonly refusesStale = true;
  readonly bundlesFrom?: number;
  private readonly queue: Queue;

  constructor(
    readonly name: JobQueue,
    connection: RedisConnection,
  ) {
    if (name === 'push') this.bundlesFrom = BUNDLES_FROM;
    this.queue = new Queue(name, { connection, prefix: JOBS_PREFIX, skipVersionCheck: true });
    this.queue.on('error', () => undefined);
  }

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const deliveries = messages.map((message): Delivery => this.check(message));
    const ready = messages.filter((_, index) => deliveries[index]?.outcome === 'delivered');
    if (ready.length > 0) {
      await this.queue.addBulk(
        ready.map(({ id, body }) => ({
          name: (body as { template: string }).template,
          data: body,
          opts: notificationJobOptions(id),
        })),
      );
    }
    return deliveries;
  }

  async close(): Promise<void> {
    await this.queue.close();
  }

  private check({ id, body }: RelayedMessage): Delivery {
    const parsed = queueSchemas[this.name].safeParse(body);
    if (parsed.success) return { id, outcome: 'delivered' };
    const faults = parsed.error.issues.slice(0, 5).map((issue) => `${issue.path.join('.')} ${issue.code}`);
    return { id, outcome: 'poison', error: `not a job of queue ${this.name}: ${faults.join(', ')}` };
  }
}
