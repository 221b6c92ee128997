/**
 * The rule both limiters follow: never more than the limit in any sixty seconds. A fixed minute would let 20 through around
 * its edge for a limit of 10, and weighing the last minute still 19 within 59 seconds, so each accepted request is remembered
 * with its time (W26).
 */
export const WINDOW_MS = 60_000;

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until one more request is allowed than now. */
  readonly resetSeconds: number;
}

export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / WINDOW_MS);
}

/** `used` were accepted in the window, this one included; the oldest of them is the next to leave it. */
export function allowance(
  allowed: boolean,
  counted: { limit: number; used: number; oldestMs: number },
  nowMs: number,
): Allowance {
  const { limit, used, oldestMs } = counted;
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.min(60, Math.max(1, Math.ceil((oldestMs + WINDOW_MS - nowMs) / 1000))),
  };
}

/** At most so many callers are remembered in one process; beyond it those are forgotten who were quiet longest. */
const MOST_CALLERS = 10_000;

/** One process's own limiter, for while Redis is away. */
export class LocalSlidingWindow {
  /** Times of accepted requests, oldest first, by caller; the caller seen last is the last of the map. */
  private readonly accepted = new Map<string, number[]>();

  constructor(private readonly now: () => number = Date.now) {}

  take(name: string, limit: number): Allowance {
    const nowMs = this.now();
    const times = (this.accepted.get(name) ?? []).filter((time) => time > nowMs - WINDOW_MS);
    const allowed = times.length < limit;
    if (allowed) times.push(nowMs);
    this.remember(name, times);
    return allowance(allowed, { limit, used: times.length, oldestMs: times[0] ?? nowMs }, nowMs);
  }

  giveBack(name: string): void {
    this.accepted.get(name)?.pop();
  }

  private remember(name: string, times: number[]): void {
    this.accepted.delete(name);
    this.accepted.set(name, times);
    if (this.accepted.size > MOST_CALLERS) this.accepted.delete(this.accepted.keys().next().value ?? '');
  }
}
