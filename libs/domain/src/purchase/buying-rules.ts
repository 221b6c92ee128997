import { DomainError } from '../shared/domain-error.ts';

/** The stored turn of the session token that a caller presents. */
export interface StoredWindow {
  readonly userId: string;
  readonly matchId: string;
  readonly isOver: boolean;
  /** Why the turn was ended; null if it was not. `isOver` is separate: its time has passed. */
  readonly endReason: string | null;
}

/**
 * Throws unless this fan may buy for this match with this turn. A missing, unknown or used turn and another fan's turn get the same
 * error, so a caller cannot find out whether a token belongs to somebody. Only the owner learns that a turn has expired.
 */
export function assertWindowOpen(window: StoredWindow | undefined, caller: { userId: string; matchId: string }): void {
  const isOwn = window?.userId === caller.userId && window.matchId === caller.matchId;
  if (isOwn && (window.endReason === 'window_timeout' || (window.endReason === null && window.isOver))) {
    throw new DomainError('PURCHASE_WINDOW_EXPIRED', 'Your turn is over. You can join the waiting room again.');
  }
  if (!isOwn || window.endReason !== null) {
    throw new DomainError('PURCHASE_WINDOW_REQUIRED', 'Seats of this match are sold in turns: join the waiting room first.');
  }
}

/** Throws if the fan would have more than `limit` seats of a match. `taken` counts held, ordered and bought seats. */
export function assertWithinLimit(count: { limit: number; taken: number; wanted: number }): void {
  const rest = Math.max(0, count.limit - count.taken);
  if (count.wanted <= rest) return;
  throw new DomainError(
    'TICKET_LIMIT_REACHED',
    `A fan may have at most ${count.limit} seats of this match; ${rest} more are possible.`,
    {
      limit: count.limit,
      rest,
    },
  );
}
