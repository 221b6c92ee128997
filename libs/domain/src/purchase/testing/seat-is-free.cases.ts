import type { SeatOwnership } from '../seat-is-free.ts';

interface SeatIsFreeCase {
  readonly seat: string;
  readonly status: SeatOwnership['status'];
  /** Milliseconds until the hold ends, negative if it has ended; null for a seat without a hold. */
  readonly expiresInMs: number | null;
  readonly isInQuota?: boolean;
  readonly isFree: boolean;
}

/** Seats in every state, with the expected result. They test the rule "this seat is free" in the domain and in SQL. */
export const seatIsFreeCases: readonly SeatIsFreeCase[] = [
  { seat: 'an available seat', status: 'available', expiresInMs: null, isFree: true },
  { seat: 'a held seat', status: 'held', expiresInMs: 600_000, isFree: false },
  { seat: 'a seat held for one more millisecond', status: 'held', expiresInMs: 1, isFree: false },
  { seat: 'a seat whose hold ends in this millisecond', status: 'held', expiresInMs: 0, isFree: true },
  { seat: 'a seat whose hold ended a millisecond ago', status: 'held', expiresInMs: -1, isFree: true },
  { seat: 'a seat whose hold ended a day ago', status: 'held', expiresInMs: -86_400_000, isFree: true },
  { seat: 'a sold seat', status: 'sold', expiresInMs: null, isFree: false },
  { seat: 'a blocked seat', status: 'blocked', expiresInMs: null, isFree: false },
  { seat: 'a seat of a quota that nobody holds', status: 'blocked', expiresInMs: null, isInQuota: true, isFree: false },
  { seat: 'a held seat of a quota', status: 'held', expiresInMs: 600_000, isInQuota: true, isFree: false },
  {
    seat: 'a seat of a quota whose hold ends in this millisecond',
    status: 'held',
    expiresInMs: 0,
    isInQuota: true,
    isFree: false,
  },
  {
    seat: 'a seat of a quota whose hold ended a day ago',
    status: 'held',
    expiresInMs: -86_400_000,
    isInQuota: true,
    isFree: false,
  },
  { seat: 'a sold seat of a quota', status: 'sold', expiresInMs: null, isInQuota: true, isFree: false },
];
