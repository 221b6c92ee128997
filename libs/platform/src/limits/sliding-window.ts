/**
 * Length of the period that a rate limit covers: at most `limit` requests in any 60 seconds, in Redis (rate-limiter.ts) and in
 * memory (below). With a limit of 10, counting by the minutes of the clock would accept 20 requests around a full minute, and a
 * weighted count of the last minute would still accept 19 within 59 seconds. Therefore the time of each accepted request is
 * stored.
 */
export const WINDOW_MS = 60_000;

/** The decision of a rate limiter about one request, with the values for the RateLimit headers. */
export interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the oldest counted request is 60 seconds old, so that one more request is allowed. */
  readonly resetSeconds: number;
}

/**
 * Makes the result for one request. `used` is the number of accepted requests in the last 60 seconds, including this one;
 * `oldestMs` is the time of the oldest of them.
 */
export function rateLimitResult(
  allowed: boolean,
  { limit, used, oldestMs }: { limit: number; used: number; oldestMs: number },
  nowMs: number,
): RateLimitResult {
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.min(60, Math.max(1, Math.ceil((oldestMs + WINDOW_MS - nowMs) / 1000))),
  };
}

/** Maximum number of callers in the memory of one process. Above it the caller whose last request is the oldest is removed. */
const MAX_CALLERS = 10_000;

/** A rate limiter in the memory of one process, used while Redis is unreachable. */
export class LocalSlidingWindow {
  /** Times of the accepted requests of each caller, oldest first. The callers are ordered by their last request, oldest first. */
  private readonly accepted = new Map<string, number[]>();

  constructor(private readonly now: () => number = Date.now) {}

  take(name: string, limit: number): RateLimitResult {
    const nowMs = this.now();
    const times = (this.accepted.get(name) ?? []).filter((time) => time > nowMs - WINDOW_MS);
    const allowed = times.length < limit;
    if (allowed) times.push(nowMs);
    this.remember(name, times);
    return rateLimitResult(allowed, { limit, used: times.length, oldestMs: times[0] ?? nowMs }, nowMs);
  }

  giveBack(name: string): void {
    this.accepted.get(name)?.pop();
  }

  private remember(name: string, times: number[]): void {
    this.accepted.delete(name);
    this.accepted.set(name, times);
    if (this.accepted.size > MAX_CALLERS) this.accepted.delete(this.accepted.keys().next().value ?? '');
  }
}
