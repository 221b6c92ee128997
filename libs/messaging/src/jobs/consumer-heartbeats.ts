import type { RedisConnection } from '#platform/redis/redis-connection';
import type { PeriodicTask } from '#platform/schedule/periodic-task';
import type { PeriodicTasks } from '#platform/schedule/periodic-tasks';

/** Expiry of a heartbeat. When three heartbeats were missed, the queue counts as having no consumer. */
const EXPIRY_SECONDS = 15;

const keyOf = (prefix: string, queue: string): string => `${prefix}:consumer:${queue}`;

/** Writes a heartbeat to Redis for each queue that this process consumes. So a queue without a consumer is noticed early. */
export class ConsumerHeartbeats {
  private readonly task: PeriodicTask;

  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
    private readonly consumers: readonly { readonly queue: string; isConsuming(): boolean }[],
    tasks: PeriodicTasks,
  ) {
    const definition = {
      name: 'consumer heartbeats',
      everyMs: 5000,
      does: 'Writes a heartbeat to Redis for each queue that this process consumes.',
    };
    this.task = tasks.add(definition, () => this.beat());
  }

  /** Writes the first heartbeats. Called when the consumers have started. */
  start(): void {
    this.task.runSoon();
  }

  private async beat(): Promise<void> {
    const consumed = this.consumers.filter((consumer) => consumer.isConsuming());
    await Promise.all(consumed.map(({ queue }) => this.redis.set(keyOf(this.prefix, queue), '1', 'EX', EXPIRY_SECONDS)));
  }
}

/** Throws when no consumer of the queue, in any process, has written a heartbeat in the last 15 s. */
export async function assertHasConsumer(redis: RedisConnection, prefix: string, queue: string): Promise<void> {
  if ((await redis.exists(keyOf(prefix, queue))) === 0) throw new Error(`queue ${queue} has no consumer`);
}
