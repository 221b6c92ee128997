import type { RedisConnection } from '../redis/redis-connection.ts';
import { RedisScript } from '../redis/script.ts';
import { allowance, LocalSlidingWindow, minuteOf, weightOfLastMinute, WINDOW_MS, type Allowance } from './sliding-window.ts';

/**
 * Counts one request if it stays within the limit. One key, so that it runs on any cluster: what the last minute counted
 * no longer changes and comes as an argument.
 * KEYS[1] this minute's counter · ARGV[1] limit, ARGV[2] what the last minute still weighs, ARGV[3] life in ms
 * → {1 or 0, counted in this minute}
 */
const takeOne = new RedisScript(`
local current = tonumber(redis.call('GET', KEYS[1]) or '0')
if current + tonumber(ARGV[2]) + 1 > tonumber(ARGV[1]) then return {0, current} end
current = redis.call('INCR', KEYS[1])
if current == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {1, current}
`);

/** Takes one back, never below nothing. KEYS[1] counter. */
const takeBack = new RedisScript(`if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then return redis.call('DECR', KEYS[1]) end return 0`);

/** Without Redis each process allows this part of the limit: stricter, but not closed. */
const SHARE_WITHOUT_REDIS = 0.5;

export interface Taken extends Allowance {
  /** For a request that turned out not to count. */
  giveBack(): Promise<void>;
}

/** A limit a minute, sliding, shared by all replicas through Redis (CONTRACT §9). */
export class RateLimiter {
  private readonly local: LocalSlidingWindow;

  constructor(
    private readonly redis: RedisConnection,
    private readonly keyPrefix: string,
    private readonly limit: number,
    private readonly now: () => number = Date.now,
  ) {
    this.local = new LocalSlidingWindow(now);
  }

  get isOff(): boolean {
    return this.limit === 0;
  }

  async take(subject: string): Promise<Taken> {
    const nowMs = this.now();
    const key = (minute: number): string => `${this.keyPrefix}:${subject}:${minute}`;
    const current = key(minuteOf(nowMs));
    try {
      const last = Number(await this.redis.get(key(minuteOf(nowMs) - 1))) || 0;
      const weight = last * weightOfLastMinute(nowMs);
      const [allowed, counted] = await takeOne.run<[number, number]>(this.redis, [current], [this.limit, weight, 2 * WINDOW_MS]);
      return {
        ...allowance(this.limit, counted + weight, allowed === 1, nowMs),
        giveBack: async () => void (await takeBack.run(this.redis, [current], []).catch(() => undefined)),
      };
    } catch {
      const limit = Math.max(1, Math.floor(this.limit * SHARE_WITHOUT_REDIS));
      return { ...this.local.take(subject, limit), giveBack: () => Promise.resolve(this.local.giveBack(subject)) };
    }
  }
}
