import type { QueueState } from './fan-state.ts';

interface WaitEstimate {
  /** Whole minutes, rounded up: "1" means "within a minute". */
  readonly minutes: number;
  /** Half of the fans are in by the first, nine of ten by the second. */
  readonly range: readonly [p50: number, p90: number];
}

/** Before any window has ended: fans who know what they want need about half of it. */
const ASSUMED_SHARE_OF_WINDOW = 0.5;
/** What goes wrong in one case of ten: fans linger, and the rate is turned down a little. */
const SLOW_WINDOWS = 1.5;
const SLOW_RATE = 0.8;

/**
 * How long the fan at `position` will wait. Two things hold a line back: the rate, and windows that are all taken; whoever
 * is behind the free windows waits for others to finish. Null when nobody is being admitted or nothing can be said.
 */
export function estimateWait(queue: QueueState, position: number, purchaseWindowMs: number): WaitEstimate | null {
  const slots = Math.min(queue.maxOpenWindows, queue.usefulWindows ?? Infinity);
  if (queue.status !== 'active' || slots <= 0 || queue.processingRate <= 0) return null;
  const windowMinutes = (queue.meanWindowMs ?? purchaseWindowMs * ASSUMED_SHARE_OF_WINDOW) / 60_000;
  const behindFreeWindows = Math.max(0, position - Math.max(0, slots - queue.openWindows));
  const wait = (rate: number, minutesPerWindow: number) =>
    Math.ceil(Math.max(position / rate, (behindFreeWindows * minutesPerWindow) / slots));
  const p50 = wait(queue.processingRate, windowMinutes);
  const longWindow = Math.min(windowMinutes * SLOW_WINDOWS, Math.max(windowMinutes, purchaseWindowMs / 60_000));
  return { minutes: p50, range: [p50, wait(queue.processingRate * SLOW_RATE, longWindow)] };
}
