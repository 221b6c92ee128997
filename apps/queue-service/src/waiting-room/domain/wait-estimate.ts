import type { QueueState } from './fan-state.ts';

interface WaitEstimate {
  /** Whole minutes, rounded up: "1" means "within a minute". */
  readonly minutes: number;
  /** Half of the fans are in by the first, nine of ten by the second. */
  readonly range: readonly [p50: number, p90: number];
}

/** How fast a line moves, in the two ways it can be held back. */
export interface LinePace {
  readonly fansPerMinute: number;
  readonly freeWindows: number;
  /** For each fan behind the free windows: one completed purchase somewhere. */
  readonly minutesPerCompletion: number;
}

/** Before any window has ended: fans who know what they want need about half of it, give or take half of that. */
const ASSUMED = { share: 0.5, deviation: 0.5, windows: 4 };
/** In one case of ten the rate is turned down a little. */
const SLOW_RATE = 0.8;
/** Of a normal distribution, one case of ten lies above mean + 1.28 standard deviations. */
const P90 = 1.28;

/** Undefined when nobody is being admitted or nothing can be said. */
export function linePace(queue: QueueState, purchaseWindowMs: number): LinePace | undefined {
  const slots = slotsOf(queue);
  if (queue.status !== 'active' || slots <= 0 || queue.processingRate <= 0) return undefined;
  const meanMs = queue.measured?.meanMs ?? purchaseWindowMs * ASSUMED.share;
  return {
    fansPerMinute: queue.processingRate,
    freeWindows: Math.max(0, slots - queue.openWindows),
    minutesPerCompletion: meanMs / 60_000 / slots,
  };
}

/**
 * How long the fan at `position` will wait. Two things hold a line back: the rate, and windows that are all taken; whoever
 * is behind the free windows waits for others to finish, at the rate at which windows have lately ended. The range is wide
 * where these took very different times, or few have been seen. Null when nobody is being admitted or nothing can be said.
 */
export function estimateWait(queue: QueueState, position: number, purchaseWindowMs: number): WaitEstimate | null {
  const pace = linePace(queue, purchaseWindowMs);
  return pace ? estimateAt(queue, pace, position, purchaseWindowMs) : null;
}

/** For many positions of one line in a row. */
export function estimateAt(queue: QueueState, pace: LinePace, position: number, purchaseWindowMs: number): WaitEstimate {
  const { fansPerMinute, freeWindows, minutesPerCompletion } = pace;
  const slots = slotsOf(queue);
  const meanMinutes = minutesPerCompletion * slots;
  const deviation = queue.measured ? Math.sqrt(queue.measured.varianceS2) / 60 : meanMinutes * ASSUMED.deviation;
  const known = queue.measured?.windows ?? ASSUMED.windows;
  const behind = Math.max(0, position - freeWindows);
  const forWindows = behind * minutesPerCompletion;
  // The sum of `behind` lengths scatters, and their mean is known from `known` windows only.
  const late = (P90 * deviation * Math.sqrt(behind + (behind * behind) / known)) / slots;
  const longest = (behind * Math.max(meanMinutes, purchaseWindowMs / 60_000)) / slots;
  const minutes = Math.ceil(Math.max(position / fansPerMinute, forWindows));
  const slow = Math.ceil(Math.max(position / (fansPerMinute * SLOW_RATE), Math.min(forWindows + late, longest)));
  return { minutes, range: [minutes, slow] };
}

function slotsOf({ maxOpenWindows, usefulWindows }: QueueState): number {
  return Math.min(maxOpenWindows, usefulWindows ?? Infinity);
}
