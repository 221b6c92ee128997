import { DomainError } from '../shared/domain-error.ts';

/** What is known of the turn a caller names. */
export interface KnownWindow {
  readonly userId: string;
  readonly matchId: string;
  readonly isOver: boolean;
  /** Why it ended before its time; null while it has not. */
  readonly endReason: string | null;
}

/**
 * May this fan buy for this match with this turn? None, unknown, used or another's: one wording, so that nobody learns
 * whose token it is; only its owner hears that it has run out.
 */
export function assertWindowOpen(window: KnownWindow | undefined, asking: { userId: string; matchId: string }): void {
  const own = window?.userId === asking.userId && window.matchId === asking.matchId;
  if (own && (window.endReason === 'window_timeout' || (window.endReason === null && window.isOver))) {
    throw new DomainError('PURCHASE_WINDOW_EXPIRED', 'Your turn is over. You can join the waiting room again.');
  }
  if (!own || window.endReason !== null) {
    throw new DomainError('PURCHASE_WINDOW_REQUIRED', 'Seats of this match are sold in turns: join the waiting room first.');
  }
}
