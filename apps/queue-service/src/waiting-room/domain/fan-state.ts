/** The status of the queue of a match. Only an `active` queue grants turns. */
export type QueueStatus = 'scheduled' | 'active' | 'paused' | 'closed';
/** Why a queue is closed: all seats are sold, or the sale was closed. */
export type ClosedReason = 'sold_out' | 'closed';

/** A sector that still has available seats, as the monolith reports it, as Redis stores it and as waiting fans are shown it. */
export interface RemainingSector {
  readonly sector_id: string;
  readonly name: string;
  readonly available: number;
}

/** The state of the whole queue of one match. */
export interface QueueState {
  readonly status: QueueStatus;
  /** How many fans wait in the line now. */
  readonly total: number;
  /** How many fans may be granted a turn per minute. */
  readonly processingRate: number;
  readonly maxOpenWindows: number;
  /** Useful windows: how many windows could still find a seat. Null: no limit. */
  readonly usefulWindows: number | null;
  readonly openWindows: number;
  readonly opensAt: string | null;
  /** Why the queue is paused, as the operator wrote it. */
  readonly reason: string | null;
  readonly closedReason: ClosedReason | null;
  readonly remainingSectors: readonly RemainingSector[];
  /** A number that grows with each change that all waiting fans must be told at once, such as a pause. */
  readonly revision: number;
  /** Mean and variance of the length of the last `windows` windows (about a hundred). Null before the first window ends. */
  readonly measured: { readonly meanMs: number; readonly varianceS2: number; readonly windows: number } | null;
  readonly granted: number;
  readonly completed: number;
  readonly expired: number;
  /** A value that changes when the line is closed or lost. Positions of an earlier epoch are void. */
  readonly epoch: string;
  /** The number of the last move of the line (a batch of departures or returns) that this state includes. */
  readonly moves: number;
  /** True for a minute after the opening. Joins are counted by address during this time. */
  readonly isOpening: boolean;
  /** How many fans have ever joined at the end of the line. From joins and moves follows the length that the line must have. */
  readonly joins: number;
}

/**
 * The state of one fan. `left`: the fan gave up the queue entry or turn. `not_in_line`: never joined, or ended so long ago that
 * Redis has deleted it.
 */
export type FanState =
  | { readonly kind: 'waiting'; readonly position: number }
  | { readonly kind: 'granted'; readonly expiresAt: string; readonly sessionToken: string }
  | { readonly kind: 'over'; readonly status: 'expired' | 'completed' | 'left' }
  | { readonly kind: 'over'; readonly status: 'closed'; readonly reason: ClosedReason }
  | { readonly kind: 'not_in_line' };
