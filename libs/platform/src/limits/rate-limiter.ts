import { randomBytes } from 'node:crypto';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { RedisScript } from '../redis/script.ts';
import { allowance, LocalSlidingWindow, minuteOf, WINDOW_MS, type Allowance } from './sliding-window.ts';

/**
 * What of the last minute is still within the window. Accepted requests stand in one sorted set a minute, by their time.
 * KEYS[1] last minute · ARGV[1] begin of the window in ms → {how many, time of the oldest or false}
 */
const countSince = new RedisScript(`
local after = '(' .. ARGV[1]
local oldest = redis.call('ZRANGEBYSCORE', KEYS[1], after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
return {redis.call('ZCOUNT', KEYS[1], after, '+inf'), oldest[2] or false}
`);

/**
 * Remembers one request if it stays within the limit. One key, so that it runs on any cluster: what the last minute holds
 * no longer changes and comes as an argument.
 * KEYS[1] this minute · ARGV[1] limit, ARGV[2] counted in the last minute, ARGV[3] now in ms, ARGV[4] this request, ARGV[5] life in ms
 * → {1 or 0, counted in this minute, time of the oldest or false}
 */
const takeOne = new RedisScript(`
local counted = redis.call('ZCARD', KEYS[1])
local allowed = 0
if counted + tonumber(ARGV[2]) < tonumber(ARGV[1]) then
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[4])
  if counted == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
  counted = counted + 1
  allowed = 1
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {allowed, counted, oldest[2] or false}
`);

/** Without Redis each process allows this part of the limit: stricter, but not closed. */
const SHARE_WITHOUT_REDIS = 0.2;
/** A Redis that just failed is left alone so long: a silent one would cost every request its time-out. */
const LEFT_ALONE_MS = 1000;

export interface Taken extends Allowance {
  /** For a request that turned out not to count. */
  giveBack(): Promise<void>;
}

/** A limit a minute, sliding, shared by all replicas through Redis (CONTRACT §9). */
export class RateLimiter {
  private readonly local: LocalSlidingWindow;
  private awayUntilMs = 0;

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
    if (nowMs < this.awayUntilMs) return this.takeLocally(subject);
    try {
      return await this.takeShared(subject, nowMs);
    } catch {
      this.awayUntilMs = this.now() + LEFT_ALONE_MS;
      return this.takeLocally(subject);
    }
  }

  private async takeShared(subject: string, nowMs: number): Promise<Taken> {
    const minute = minuteOf(nowMs);
    const key = (of: number): string => `${this.keyPrefix}:${subject}:${of}`;
    const request = randomBytes(6).toString('base64url');
    const [before, oldestBefore] = await countSince.run<[number, string | null]>(
      this.redis,
      [key(minute - 1)],
      [nowMs - WINDOW_MS],
    );
    const [allowed, counted, oldest] = await takeOne.run<[number, number, string | null]>(
      this.redis,
      [key(minute)],
      [this.limit, before, nowMs, request, 2 * WINDOW_MS],
    );
    const oldestMs = Number(oldestBefore ?? oldest ?? nowMs);
    return {
      ...allowance(allowed === 1, { limit: this.limit, used: before + counted, oldestMs }, nowMs),
      giveBack: async () => void (await this.redis.zrem(key(minute), request).catch(() => undefined)),
    };
  }

  private takeLocally(subject: string): Taken {
    const limit = Math.max(1, Math.floor(this.limit * SHARE_WITHOUT_REDIS));
    return { ...this.local.take(subject, limit), giveBack: () => Promise.resolve(this.local.giveBack(subject)) };
  }
}
