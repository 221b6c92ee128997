export interface SeatOwnership {
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
  /** When the hold ends; null for a seat that is not held. */
  readonly expiresAtMs: number | null;
}

/**
 * A seat whose hold has expired is free from that millisecond on, although its row says `held` until an expiry run or the
 * next hold changes it. `seat-is-free.sql.ts` is the same rule in SQL; both are tested with the cases of `seat-is-free.cases.ts`.
 */
export function isSeatFree({ status, expiresAtMs }: SeatOwnership, nowMs: number): boolean {
  return status === 'available' || (status === 'held' && expiresAtMs !== null && expiresAtMs <= nowMs);
}
