import type { Transaction } from '#application/transaction-manager';
import type { ReservationStatus } from '#domain/purchase/reservation';
import type { Reservation } from '../../application/ports.ts';
import { ReservationReader } from './ports.ts';

/** Result of one batch of an expiry run. */
export interface ExpiredBatch {
  readonly examined: number;
  readonly ended: number;
  /** The last reservation examined, with its expiry in microseconds; undefined when no more are due. */
  readonly next?: { readonly id: string; readonly expiresAt: string } | undefined;
}

/**
 * Reservations and their seats, locked while a transaction decides about them. A reservation expires at its time on the database's
 * clock, whether or not an expiry run has ended it.
 */
export abstract class Reservations extends ReservationReader {
  /** Locks a reservation until the transaction ends. Undefined when it does not exist, or belongs to another fan than `userId`. */
  abstract lock(tx: Transaction, reservationId: string, userId?: string): Promise<Reservation | undefined>;
  /** Locks the reservations that no other transaction has locked, and returns them by id. Waits for no lock. */
  abstract lockSkippingLocked(tx: Transaction, reservationIds: readonly string[]): Promise<ReadonlyMap<string, Reservation>>;
  abstract setStatus(tx: Transaction, reservationId: string, status: ReservationStatus): Promise<void>;
  /** Puts the seats of a hold back on sale. */
  abstract freeSeats(tx: Transaction, reservationId: string): Promise<void>;
  /**
   * Marks the seats of a hold as sold, if each of them still belongs to it or is free. Otherwise changes nothing and returns
   * false.
   */
  abstract sellSeats(tx: Transaction, reservation: Reservation): Promise<boolean>;
  /**
   * Keeps a living hold among the fan's counted seats, and makes a transaction that counted them before count again. False when the
   * hold has expired and the fan has got other seats since.
   */
  abstract staysCounted(tx: Transaction, reservation: Reservation): Promise<boolean>;
  /**
   * Locks the rows of the seats and fans of living holds. Waits for no lock. Returns the ids of the holds of which it could lock all
   * rows: `complete` will complete these in the same transaction.
   */
  abstract lockComplete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>>;
  /**
   * Sells the seats of living holds and marks the holds as completed. Waits for no lock: a hold with a locked seat stays as it
   * was. Returns the ids of the completed holds.
   */
  abstract complete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>>;
  /** Counts an ended hold among its fan's seats again. False when the fan would then have more than `limit`. */
  abstract countAgain(tx: Transaction, reservation: Reservation, limit: number): Promise<boolean>;
  /** The living holds of these turns that have no order yet. */
  abstract unpaidInWindows(tx: Transaction, sessionTokens: readonly string[]): Promise<readonly string[]>;
  /**
   * Ends up to `limit` expired reservations, oldest first, beginning after the previous batch. Waits for no lock: a reservation
   * with a locked row stays as it was.
   */
  abstract expireDueReservations(limit: number, after?: ExpiredBatch['next']): Promise<ExpiredBatch>;
}
