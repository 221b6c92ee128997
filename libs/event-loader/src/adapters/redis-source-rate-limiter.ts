import type { RedisConnection } from '#platform/redis/redis-connection';
import { RedisScript } from '#platform/redis/script';
import type { Source } from '../core/event.ts';
import { Pass, SourceRateLimiter } from '../core/ports.ts';
import { PASS_MS } from '../core/round-robin-event-loader.ts';

/** Between two requests to the same source, whoever makes them. */
export const GAP_MS = 200;

/** Passes if the gate is open. KEYS[1] gate; ARGV[1] life in ms. Returns 0, or for how many ms it is shut. */
const PASS = new RedisScript(`
if redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 0 end
return math.max(redis.call('PTTL', KEYS[1]), 1)`);

/**
 * `loader:gate:{source}`, set for as long as a pass is good and a gap: whatever happens to the holder, the next request starts a
 * gap after the last moment at which this one could. Once the request is over, a gap is enough.
 */
export class RedisSourceRateLimiter extends SourceRateLimiter {
  private shutUntil = 0;
  private readonly knownShut = new Map<string, number>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly gapMs = GAP_MS,
  ) {
    super();
    // Another Redis, or the same without its memory: who had a pass from the one before may still use it.
    redis.on('ready', () => (this.shutUntil = performance.now() + PASS_MS + gapMs));
  }

  override isKnownShut({ name }: Source): boolean {
    return performance.now() < Math.max(this.shutUntil, this.knownShut.get(name) ?? 0);
  }

  async tryPass(source: Source): Promise<Pass | undefined> {
    if (performance.now() < this.shutUntil) return undefined;
    const key = `loader:gate:{${source.name}}`;
    const askedAt = performance.now();
    const leftMs = await PASS.run<number>(this.redis, [key], [PASS_MS + this.gapMs]);
    if (leftMs > 0) this.shut(source, askedAt, leftMs);
    return leftMs > 0 ? undefined : new RedisPass(this.redis, key, this.gapMs, (at) => this.shut(source, at, this.gapMs));
  }

  /** Counted from before Redis was asked, so never too long. Whoever has a pass may end its request now: a gap is sure, no more. */
  private shut({ name }: Source, askedAt: number, leftMs: number): void {
    this.knownShut.set(name, askedAt + Math.min(leftMs, this.gapMs));
  }
}

class RedisPass extends Pass {
  constructor(
    private readonly redis: RedisConnection,
    private readonly key: string,
    private readonly gapMs: number,
    private readonly onUsed: (askedAt: number) => void,
  ) {
    super();
  }

  async used(): Promise<void> {
    const askedAt = performance.now();
    await this.redis.set(this.key, '1', 'PX', this.gapMs);
    this.onUsed(askedAt);
  }
}
