import type { RedisConnection } from '../redis/redis-connection.ts';

const EVERY_MS = 5000;
/** Three beats missed: nobody serves the queue. */
const ALIVE_SECONDS = 15;

const keyOf = (prefix: string, queue: string): string => `${prefix}:consumer:${queue}`;

/** Each queue's consumers leave a sign of life in Redis, so that a queue nobody serves is seen before its messages are late. */
export class ConsumerBeats {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
    private readonly consumers: readonly { readonly queue: string; isTaking(): boolean }[],
  ) {}

  start(): void {
    const beat = (): void => {
      for (const consumer of this.consumers) {
        if (!consumer.isTaking()) continue;
        void this.redis.set(keyOf(this.prefix, consumer.queue), '1', 'EX', ALIVE_SECONDS).catch(() => undefined);
      }
    };
    beat();
    this.timer = setInterval(beat, EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/** Rejects when no consumer of the queue, in any process, has given a sign of life in the last 15 s. */
export async function assertConsumed(redis: RedisConnection, prefix: string, queue: string): Promise<void> {
  if ((await redis.exists(keyOf(prefix, queue))) === 0) throw new Error(`queue ${queue} has no consumer`);
}
