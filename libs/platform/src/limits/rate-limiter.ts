import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { SharedScript } from '../redis/shared-script.ts';
import { allowance, LocalSlidingWindow, minuteOf, WINDOW_MS, type Allowance } from './sliding-window.ts';

/**
 * What of the last minute is still within the window. Accepted requests stand in one sorted set a minute, by their time.
 * → {how many, time of the oldest or false}
 */
const COUNT_SINCE = `function(last_minute, begin_ms)
  local after = '(' .. begin_ms
  local oldest = redis.call('ZRANGEBYSCORE', last_minute, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return { redis.call('ZCOUNT', last_minute, after, '+inf'), oldest[2] or false }
end`;

/**
 * Remembers one request if it stays within the limit. One key, so that it runs on any cluster: what the last minute holds
 * no longer changes and comes as an argument. → {1 or 0, counted in this minute, time of the oldest or false}
 */
const TAKE_ONE = `function(this_minute, limit, counted_before, now_ms, request, life_ms)
  local counted, allowed = redis.call('ZCARD', this_minute), 0
  if counted + tonumber(counted_before) < tonumber(limit) then
    redis.call('ZADD', this_minute, now_ms, request)
    if counted == 0 then redis.call('PEXPIRE', this_minute, life_ms) end
    counted, allowed = counted + 1, 1
  end
  return { allowed, counted, redis.call('ZRANGE', this_minute, 0, 0, 'WITHSCORES')[2] or false }
end`;

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
  private readonly countSince: SharedScript<[number, string | null]>;
  private readonly takeOne: SharedScript<[number, number, string | null]>;
  private awayUntilMs = 0;

  constructor(
    private readonly redis: RedisConnection,
    private readonly keyPrefix: string,
    private readonly limit: number,
    private readonly now: () => number = Date.now,
  ) {
    this.local = new LocalSlidingWindow(now);
    this.countSince = new SharedScript(redis, COUNT_SINCE);
    this.takeOne = new SharedScript(redis, TAKE_ONE);
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
    // Who it is among those of one subject and minute: 48 random bits.
    const request = randomUUID().slice(-12);
    const [before, oldestBefore] = await this.countSince.run(key(minute - 1), nowMs - WINDOW_MS);
    const [allowed, counted, oldest] = await this.takeOne.run(key(minute), this.limit, before, nowMs, request, 2 * WINDOW_MS);
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
