import { performance } from 'node:perf_hooks';

/**
 * The rule both limiters follow: what counts is this minute plus the part of the last one that still lies within sixty
 * seconds. A fixed minute would let 20 through around its edge for a limit of 10 (W26).
 */
export const WINDOW_MS = 60_000;

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until one more request is allowed, or the window is empty. */
  readonly resetSeconds: number;
}

export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / WINDOW_MS);
}

/** How much of the last minute still counts, 1…0. */
export function weightOfLastMinute(nowMs: number): number {
  return 1 - (nowMs % WINDOW_MS) / WINDOW_MS;
}

export function allowance(limit: number, used: number, allowed: boolean, nowMs: number): Allowance {
  return {
    allowed,
    limit,
    remaining: Math.max(0, Math.floor(limit - used)),
    resetSeconds: Math.max(1, Math.ceil((WINDOW_MS - (nowMs % WINDOW_MS)) / 1000)),
  };
}

/** At most this many counters in one process; beyond it the oldest go, which only ever forgets those who were quiet longest. */
const MOST_COUNTERS = 50_000;

/** One process's own limiter: used alone while Redis is away, at a share of the limit, so that N replicas stay within it. */
export class LocalSlidingWindow {
  private readonly counters = new Map<string, { minute: number; current: number; last: number }>();

  constructor(private readonly now: () => number = () => performance.timeOrigin + performance.now()) {}

  take(name: string, limit: number): Allowance {
    const nowMs = this.now();
    const counter = this.roll(name, minuteOf(nowMs));
    const used = counter.current + counter.last * weightOfLastMinute(nowMs);
    if (used + 1 > limit) return allowance(limit, used, false, nowMs);
    counter.current += 1;
    return allowance(limit, used + 1, true, nowMs);
  }

  giveBack(name: string): void {
    const counter = this.counters.get(name);
    if (counter && counter.current > 0) counter.current -= 1;
  }

  private roll(name: string, minute: number): { minute: number; current: number; last: number } {
    const known = this.counters.get(name);
    if (known?.minute === minute) return known;
    const fresh = { minute, current: 0, last: known?.minute === minute - 1 ? known.current : 0 };
    this.counters.delete(name);
    this.counters.set(name, fresh);
    if (this.counters.size > MOST_COUNTERS) this.counters.delete(this.counters.keys().next().value ?? '');
    return fresh;
  }
}
