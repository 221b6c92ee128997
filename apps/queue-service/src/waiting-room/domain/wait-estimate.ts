import type { QueueState } from './fan-state.ts';

interface WaitEstimate {
  /** Whole minutes, rounded up: "1" means "within a minute". */
  readonly minutes: number;
  /** The minutes after which half of the fans at this position (p50), and nine of ten (p90), have their turn. */
  readonly range: readonly [p50: number, p90: number];
}

/** How fast a line moves. Two limits slow it down: the admission rate, and the number of windows that may be open at once. */
export interface LinePace {
  readonly fansPerMinute: number;
  readonly freeWindows: number;
  /** Average time until one of the taken windows ends. Each fan who gets no free window must wait for one window to end. */
  readonly minutesPerCompletion: number;
}

/**
 * Assumed before any window has ended: a fan uses half of the window, with a standard deviation of half of this time, as if four
 * windows were measured.
 */
const ASSUMED = { share: 0.5, deviation: 0.5, windows: 4 };
/** The pessimistic estimate (p90) assumes that operators reduce the admission rate to 80 %. */
const SLOW_RATE = 0.8;
/** In a normal distribution one value of ten lies above mean + 1.28 standard deviations. */
const P90 = 1.28;

/** The pace of a line. Undefined when no fan can be admitted: the queue is not active, or has no windows or no rate. */
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
 * How long the fan at `position` will wait. Two limits slow a line down: the admission rate, and the number of open windows. A
 * fan who gets no free window waits for taken windows to end, at the rate at which windows ended recently. The range is wide
 * when window lengths vary much or few windows have ended. Null when no fan can be admitted (see `linePace`).
 */
export function estimateWait(queue: QueueState, position: number, purchaseWindowMs: number): WaitEstimate | null {
  const pace = linePace(queue, purchaseWindowMs);
  return pace ? estimateAt(queue, pace, position, purchaseWindowMs) : null;
}

/** Like `estimateWait`, for many positions of one line: the caller computes `pace` once. */
export function estimateAt(queue: QueueState, pace: LinePace, position: number, purchaseWindowMs: number): WaitEstimate {
  const { fansPerMinute, freeWindows, minutesPerCompletion } = pace;
  const slots = slotsOf(queue);
  const meanMinutes = minutesPerCompletion * slots;
  const deviation = queue.measured ? Math.sqrt(queue.measured.varianceS2) / 60 : meanMinutes * ASSUMED.deviation;
  const known = queue.measured?.windows ?? ASSUMED.windows;
  const behind = Math.max(0, position - freeWindows);
  const forWindows = behind * minutesPerCompletion;
  // The error has two parts: the sum of `behind` window lengths varies, and their mean is estimated from only `known` windows.
  const p90ExtraMinutes = (P90 * deviation * Math.sqrt(behind + (behind * behind) / known)) / slots;
  const maxMinutes = (behind * Math.max(meanMinutes, purchaseWindowMs / 60_000)) / slots;
  const minutes = Math.ceil(Math.max(position / fansPerMinute, forWindows));
  const p90Minutes = Math.ceil(
    Math.max(position / (fansPerMinute * SLOW_RATE), Math.min(forWindows + p90ExtraMinutes, maxMinutes)),
  );
  return { minutes, range: [minutes, p90Minutes] };
}

function slotsOf({ maxOpenWindows, usefulWindows }: QueueState): number {
  return Math.min(maxOpenWindows, usefulWindows ?? Infinity);
}
