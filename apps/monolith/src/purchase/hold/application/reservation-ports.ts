import type { Transaction } from '#application/transaction-manager';
import type { ReservationStatus } from '#domain/purchase/reservation';
import type { Reservation } from '../../application/ports.ts';

/** Result of one batch of the expiry sweeper. */
export interface ExpiredBatch {
  /**
   * Number of expired reservations that the batch locked. Those that were paid or released in time, or have a locked row, are not
   * ended.
   */
  readonly examined: number;
  readonly ended: number;
  /**
   * The last examined reservation, with its expiry in microseconds: the next batch begins after it. Undefined when no more have
   * expired.
   */
  readonly next?: { readonly id: string; readonly expiresAt: string } | undefined;
}

/**
 * Reservations and their seats, locked while a transaction decides about them. A reservation expires at `expires_at` on the
 * database's clock, whether or not the expiry sweeper has ended it. A *living* hold is one that has neither ended nor expired.
 */
export abstract class Reservations {
  /** Reads a reservation of any status, without a lock. */
  abstract find(reservationId: string): Promise<Reservation | undefined>;
  /** Locks a reservation until the transaction ends. Undefined when it does not exist, or belongs to another fan than `userId`. */
  abstract lock(tx: Transaction, reservationId: string, userId?: string): Promise<Reservation | undefined>;
  /** Locks those of the reservations that no other transaction has locked, and returns them by id. Waits for no lock. */
  abstract lockSkippingLocked(tx: Transaction, reservationIds: readonly string[]): Promise<ReadonlyMap<string, Reservation>>;
  /** Of a reservation that is `completed`, the unpaid holds of its fan count again from 0. */
  abstract setStatus(tx: Transaction, reservationId: string, status: ReservationStatus): Promise<void>;
  /** Ends the hold of its seats: they are on sale again, those of an invitation are free in their quota again. */
  abstract freeSeats(tx: Transaction, reservationId: string): Promise<void>;
  /**
   * Marks the seats of a hold as sold, if each of them still belongs to the hold or is free. For a hold of an invitation, a free
   * place must still be bound to the invitation. Otherwise changes nothing and returns false.
   */
  abstract sellSeats(tx: Transaction, reservation: Reservation): Promise<boolean>;
  /**
   * Call this when a living hold is paid. Its seats stay in the count of the fan's seats, and a concurrent transaction that counted
   * them earlier must count again. False when the hold is no longer counted: it has expired and the fan has got other seats since.
   * A hold of an invitation is not counted: always true, also from `countAgain`.
   */
  abstract staysCounted(tx: Transaction, reservation: Reservation): Promise<boolean>;
  /**
   * Locks the rows of the seats and fans of living holds. Waits for no lock. Returns the ids of the holds whose rows are all locked
   * now: `complete` will complete these holds in the same transaction.
   */
  abstract lockComplete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>>;
  /**
   * Sells the seats of living holds and marks the holds as completed. Waits for no lock: a hold with a locked seat stays as it
   * was. Returns the ids of the completed holds.
   */
  abstract complete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>>;
  /** Counts the seats of an ended hold for its fan again. False when the fan would then have more than `limit` seats. */
  abstract countAgain(tx: Transaction, reservation: Reservation, limit: number): Promise<boolean>;
  /** Locks the living holds of these turns (by session token) that have no order yet, and returns their ids. */
  abstract unpaidInWindows(tx: Transaction, sessionTokens: readonly string[]): Promise<readonly string[]>;
  /**
   * One batch of the expiry sweeper: ends up to `limit` expired reservations, oldest first, beginning after the last one of the
   * previous batch (`after`). Waits for no lock: a reservation with a locked row stays as it was.
   */
  abstract expireDueReservations(limit: number, after?: ExpiredBatch['next']): Promise<ExpiredBatch>;
}
