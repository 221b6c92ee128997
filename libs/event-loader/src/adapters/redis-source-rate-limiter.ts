import type { RedisConnection } from '#platform/redis/redis-connection';
import { RedisScript } from '#platform/redis/script';
import type { Source } from '../core/event.ts';
import { SourceRateLimiter, type Permit } from '../core/ports.ts';
import { PERMIT_VALID_MS } from '../core/round-robin-event-loader.ts';

/** The gap between two requests to the same source, over all loaders. */
export const REQUEST_GAP_MS = 200;

/**
 * Takes a permit: sets the key of the source if it does not exist. KEYS[1] `loader:gate:{source}`; ARGV[1] lifetime in ms.
 * Returns 0 if it was set, otherwise the remaining ms of the existing key.
 */
const ACQUIRE = new RedisScript(`
if redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 0 end
return math.max(redis.call('PTTL', KEYS[1]), 1)`);

/**
 * Rate limiter on the Redis key `loader:gate:{source}`. The key lives for the lifetime of the permit plus one gap. So even if the
 * permit's holder dies, the next request starts at least one gap after the last moment at which the holder could send its own
 * request. When the request is over, the lifetime of the key is shortened to one gap.
 */
export class RedisSourceRateLimiter extends SourceRateLimiter {
  /** Until this time no source gets a permit, because Redis may have lost its keys. */
  private blockedUntil = 0;
  private readonly limitedUntil = new Map<string, number>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly gapMs = REQUEST_GAP_MS,
  ) {
    super();
    // After a reconnect Redis may have lost its keys, while permits that were given before are still valid.
    redis.on('ready', () => (this.blockedUntil = performance.now() + PERMIT_VALID_MS + gapMs));
  }

  override isKnownLimited({ name }: Source): boolean {
    return performance.now() < Math.max(this.blockedUntil, this.limitedUntil.get(name) ?? 0);
  }

  async tryAcquire(source: Source): Promise<Permit | undefined> {
    if (performance.now() < this.blockedUntil) return undefined;
    const key = `loader:gate:{${source.name}}`;
    const askedAt = performance.now();
    const remainingMs = await ACQUIRE.run<number>(this.redis, [key], [PERMIT_VALID_MS + this.gapMs]);
    if (remainingMs > 0) {
      this.rememberLimit(source, askedAt, remainingMs);
      return undefined;
    }
    const requestFinished = async (): Promise<void> => {
      const finishedAt = performance.now();
      await this.redis.set(key, '1', 'PX', this.gapMs);
      this.rememberLimit(source, finishedAt, this.gapMs);
    };
    return { requestFinished };
  }

  /**
   * Remembers when to ask Redis again. The time is never too long: it counts from before the request to Redis, and it is at most
   * one gap, because the permit's holder may finish its request now and shorten the key to one gap.
   */
  private rememberLimit({ name }: Source, askedAt: number, remainingMs: number): void {
    this.limitedUntil.set(name, askedAt + Math.min(remainingMs, this.gapMs));
  }
}
