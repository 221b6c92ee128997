import { DomainError } from '../shared/domain-error.ts';

/** The turn that is stored under the session token of a request. */
export interface StoredWindow {
  readonly userId: string;
  readonly matchId: string;
  readonly isOver: boolean;
  /** Why the turn was ended; null if nothing has ended it. A turn whose time has passed (`isOver`) may still have no reason. */
  readonly endReason: string | null;
}

/**
 * Throws unless the caller may buy for the match with this turn. A missing, unknown or used turn and another fan's turn get the
 * same error, so a caller cannot find out whether a token belongs to somebody. Only the turn's own fan learns that it has
 * expired.
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

/**
 * Throws if the fan would have more than `limit` seats of a match. `taken`: seats the fan holds, has ordered or bought. `wanted`:
 * further seats.
 */
export function assertWithinLimit(count: { limit: number; taken: number; wanted: number }): void {
  const rest = Math.max(0, count.limit - count.taken);
  if (count.wanted <= rest) return;
  throw new DomainError(
    'TICKET_LIMIT_REACHED',
    `A fan may have at most ${count.limit} seats of this match; ${rest} more are possible.`,
    { limit: count.limit, rest },
  );
}
