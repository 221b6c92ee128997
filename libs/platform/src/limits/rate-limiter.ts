import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { BatchedScript } from '../redis/batched-script.ts';
import { rateLimitResult, LocalSlidingWindow, WINDOW_MS, type RateLimitResult } from './sliding-window.ts';

/**
 * Lua: counts the accepted requests of the last full minute that are less than 60 seconds old. Each minute has a sorted set of
 * its accepted requests, scored by time. The scores of one service are below `last_score`. Returns {count, score of the oldest or
 * false}.
 */
const COUNT_SINCE = `function(last_minute, begin_score, last_score)
  local after = '(' .. begin_score
  local oldest = redis.call('ZRANGEBYSCORE', last_minute, after, last_score, 'WITHSCORES', 'LIMIT', 0, 1)
  return { redis.call('ZCOUNT', last_minute, after, last_score), oldest[2] or false }
end`;

/**
 * Lua: stores one request if it is within the limit. It uses the set of this minute only, because a script on a cluster may use
 * one key; the count of the last minute no longer changes and is an argument. Returns {1 if allowed or 0, count of this minute,
 * score of the oldest or false}.
 */
const TAKE_ONE = `function(this_minute, limit, counted_before, score, first_score, last_score, request, life_ms)
  local counted, allowed = redis.call('ZCOUNT', this_minute, first_score, last_score), 0
  if counted + tonumber(counted_before) < tonumber(limit) then
    redis.call('ZADD', this_minute, score, request)
    if counted == 0 then redis.call('PEXPIRE', this_minute, life_ms) end
    counted, allowed = counted + 1, 1
  end
  return { allowed, counted, redis.call('ZRANGEBYSCORE', this_minute, first_score, last_score, 'WITHSCORES', 'LIMIT', 0, 1)[2] or false }
end`;

/**
 * The services that limit requests. They use the same keys (CONTRACT §9), often in the same Redis, but each has its own limit for an
 * address and counts only its own requests: the score of a request is its time plus SERVICE_OFFSET times this number.
 */
const serviceNumbers = { monolith: 0, 'queue-service': 1, 'notification-worker': 2 } as const;
type LimitedService = keyof typeof serviceNumbers;
/** Larger than any time in ms before the year 2286. */
const SERVICE_OFFSET = 10 ** 13;

/** The share of a rate limit that each process allows without Redis: stricter than the limit, but fans can still buy. */
const LOCAL_LIMIT_SHARE = 0.2;
/** How long Redis is not asked after a failure. Otherwise a Redis that does not answer would cost every request its timeout. */
const SKIP_REDIS_MS = 1000;

/**
 * The decision about one request. The request can be removed from the count later, for example when it was refused for another
 * reason.
 */
export interface CountedRequest extends RateLimitResult {
  /** Removes this request from the count. */
  giveBack(): Promise<void>;
}

/**
 * A limit for the requests of a fan or address in any period of 60 seconds, shared by all processes through Redis (CONTRACT §9).
 */
export class RateLimiter {
  private readonly local: LocalSlidingWindow;
  private readonly countSince: BatchedScript<[number, string | null]>;
  private readonly takeOne: BatchedScript<[number, number, string | null]>;
  private readonly now: () => number;
  /** The score of a request of this service at time 0. */
  private readonly firstScore: number;
  private skipRedisUntilMs = 0;

  constructor(
    private readonly redis: RedisConnection,
    private readonly keyPrefix: string,
    private readonly limit: number,
    { service = 'monolith', now = Date.now }: { service?: LimitedService; now?: () => number } = {},
  ) {
    this.now = now;
    this.firstScore = serviceNumbers[service] * SERVICE_OFFSET;
    this.local = new LocalSlidingWindow(now);
    this.countSince = new BatchedScript(redis, COUNT_SINCE);
    this.takeOne = new BatchedScript(redis, TAKE_ONE);
  }

  get isOff(): boolean {
    return this.limit === 0;
  }

  /**
   * Counts a request of `subject` (a fan, an address or a network) and decides whether it is allowed. The limit of this subject is
   * `factor` times the usual one.
   */
  async take(subject: string, factor = 1): Promise<CountedRequest> {
    const nowMs = this.now();
    const limit = this.limit * factor;
    if (nowMs < this.skipRedisUntilMs) return this.takeLocally(subject, limit);
    try {
      return await this.takeShared(subject, limit, nowMs);
    } catch {
      this.skipRedisUntilMs = this.now() + SKIP_REDIS_MS;
      return this.takeLocally(subject, limit);
    }
  }

  private async takeShared(subject: string, limit: number, nowMs: number): Promise<CountedRequest> {
    const minute = Math.floor(nowMs / WINDOW_MS);
    const keyOf = (ofMinute: number): string => `${this.keyPrefix}:${subject}:${ofMinute}`;
    // 48 random bits that tell this request apart from the other requests of the same subject and minute.
    const request = randomUUID().slice(-12);
    const { firstScore } = this;
    const [lastScore, score] = [firstScore + SERVICE_OFFSET - 1, firstScore + nowMs];
    const [before, oldestBefore] = await this.countSince.run(keyOf(minute - 1), score - WINDOW_MS, lastScore);
    const args = [limit, before, score, firstScore, lastScore, request, 2 * WINDOW_MS];
    const [allowed, counted, oldest] = await this.takeOne.run(keyOf(minute), ...args);
    const oldestMs = Number(oldestBefore ?? oldest ?? score) - firstScore;
    return {
      ...rateLimitResult(allowed === 1, { limit, used: before + counted, oldestMs }, nowMs),
      giveBack: async () => void (await this.redis.zrem(keyOf(minute), request).catch(() => undefined)),
    };
  }

  private takeLocally(subject: string, limit: number): CountedRequest {
    const localLimit = Math.max(1, Math.floor(limit * LOCAL_LIMIT_SHARE));
    return { ...this.local.take(subject, localLimit), giveBack: () => Promise.resolve(this.local.giveBack(subject)) };
  }
}
