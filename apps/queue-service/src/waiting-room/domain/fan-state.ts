export type QueueStatus = 'scheduled' | 'active' | 'paused' | 'closed';
export type ClosedReason = 'sold_out' | 'closed';

export interface RemainingSector {
  readonly sectorId: string;
  readonly name: string;
  readonly available: number;
}

/** The queue of one match as a whole. */
export interface QueueState {
  readonly status: QueueStatus;
  /** Fans waiting now. */
  readonly total: number;
  /** Admissions a minute. */
  readonly processingRate: number;
  readonly maxOpenWindows: number;
  /** How many windows could still find a seat; null means no bound. */
  readonly usefulWindows: number | null;
  readonly openWindows: number;
  readonly opensAt: string | null;
  /** Why it is paused, as the operator wrote it. */
  readonly reason: string | null;
  readonly closedReason: ClosedReason | null;
  readonly remainingSectors: readonly RemainingSector[];
  /** Grows whenever something changed that waiting fans should hear at once. */
  readonly revision: number;
  /** How long fans lately kept their window, over the last `windows` of them (about a hundred); null before the first ended. */
  readonly measured: { readonly meanMs: number; readonly varianceS2: number; readonly windows: number } | null;
  readonly granted: number;
  readonly completed: number;
  readonly expired: number;
  /** Another one after every close or loss: positions known from an earlier line are void. */
  readonly epoch: string;
  /** How many moves of the line (departures, in batches) this state includes. */
  readonly moves: number;
  /** How many fans have ever joined at the end: with the moves it tells how long the line must be. */
  readonly joins: number;
}

/** Where one fan stands. `left` ends a place without a trace; `nowhere` has never been in line, or long ago. */
export type FanState =
  | { readonly kind: 'waiting'; readonly position: number }
  | { readonly kind: 'granted'; readonly expiresAt: string; readonly sessionToken: string }
  | { readonly kind: 'over'; readonly status: 'expired' | 'completed' | 'left' }
  | { readonly kind: 'over'; readonly status: 'closed'; readonly reason: ClosedReason }
  | { readonly kind: 'nowhere' };
