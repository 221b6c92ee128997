import type { RedisConnection } from '#platform/redis/redis-connection';

const INTERVAL_MS = 5000;
/** Expiry of a heartbeat. When three heartbeats were missed, the queue counts as having no consumer. */
const EXPIRY_SECONDS = 15;

const keyOf = (prefix: string, queue: string): string => `${prefix}:consumer:${queue}`;

/** Writes a heartbeat to Redis for each queue that this process consumes. So a queue without a consumer is noticed early. */
export class ConsumerHeartbeats {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
    private readonly consumers: readonly { readonly queue: string; isConsuming(): boolean }[],
  ) {}

  start(): void {
    const beat = (): void => {
      for (const consumer of this.consumers) {
        if (!consumer.isConsuming()) continue;
        void this.redis.set(keyOf(this.prefix, consumer.queue), '1', 'EX', EXPIRY_SECONDS).catch(() => undefined);
      }
    };
    beat();
    this.timer = setInterval(beat, INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/** Throws when no consumer of the queue, in any process, has written a heartbeat in the last 15 s. */
export async function assertHasConsumer(redis: RedisConnection, prefix: string, queue: string): Promise<void> {
  if ((await redis.exists(keyOf(prefix, queue))) === 0) throw new Error(`queue ${queue} has no consumer`);
}
