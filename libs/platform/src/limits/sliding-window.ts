/**
 * Both limiters keep the same rule: never more than `limit` requests in any period of 60 seconds. With a limit of 10, a fixed
 * minute would accept 20 requests around its boundary, and a weighted last minute would still accept 19 within 59 seconds.
 * Therefore the time of each accepted request is stored.
 */
export const WINDOW_MS = 60_000;

/** The decision of a rate limiter about one request, with the values for the RateLimit headers. */
export interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the oldest counted request leaves the window and one more request is allowed. */
  readonly resetSeconds: number;
}

/** The number of the minute since 1970. It is a part of the Redis keys. */
export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / WINDOW_MS);
}

/** `used` is the number of accepted requests in the window, including this one. The oldest of them leaves the window next. */
export function rateLimitResult(
  allowed: boolean,
  counted: { limit: number; used: number; oldestMs: number },
  nowMs: number,
): RateLimitResult {
  const { limit, used, oldestMs } = counted;
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.min(60, Math.max(1, Math.ceil((oldestMs + WINDOW_MS - nowMs) / 1000))),
  };
}

/** Maximum number of callers in the memory of one process. Beyond it the caller with the oldest last request is removed. */
const MAX_CALLERS = 10_000;

/** A rate limiter in the memory of one process, used while Redis is unreachable. */
export class LocalSlidingWindow {
  /** Times of accepted requests by caller, oldest first. The map is ordered by each caller's last request, oldest first. */
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
