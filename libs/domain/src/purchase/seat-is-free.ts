/** What decides whether a seat is free. */
export interface SeatOwnership {
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
  /** When the hold ends; null for a seat that is not held. */
  readonly expiresAtMs: number | null;
  /** True if the seat belongs to a quota. */
  readonly isInQuota: boolean;
}

/**
 * A seat whose hold has expired is free from that millisecond on, although its row says `held` until the expiry sweeper or the next
 * hold changes it. A seat of a quota is never free for the public. `seat-is-free.api.ts` is the same rule in SQL. The cases of `seat-is-free.cases.ts` test both.
 */
export function isSeatFree({ status, expiresAtMs, isInQuota }: SeatOwnership, nowMs: number): boolean {
  return !isInQuota && (status === 'available' || (status === 'held' && expiresAtMs !== null && expiresAtMs <= nowMs));
}
