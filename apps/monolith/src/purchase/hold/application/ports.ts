import type { Transaction } from '#application/transaction-manager';
import type { ReservationStatus } from '#domain/purchase/reservation';
import type { Reservation, SectorForSale } from '../../application/ports.ts';

/** Fans who may not buy, as this process knows them: a moment behind, so the database is asked again before anything is paid. */
export abstract class Blacklist {
  abstract has(userId: string): boolean;
}

/** A fan's wish for seats of one sector: so many of the best, or exactly these. */
export type HoldRequest = {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
  readonly sector: SectorForSale;
} & ({ readonly quantity: number } | { readonly seatIds: readonly string[] });

export function wantedSeats(wish: HoldRequest): number {
  return 'quantity' in wish ? wish.quantity : wish.seatIds.length;
}

export type HoldOutcome =
  | { readonly kind: 'taken'; readonly reservation: Reservation }
  /** Nothing was changed: these seats have somebody (`taken`), those were being taken this instant (`busy`). */
  | { readonly kind: 'lost'; readonly taken: readonly string[]; readonly busy: readonly string[] }
  /** Nothing was changed: so many are not to be found. Why not is for the database to say. */
  | { readonly kind: 'none' };

/**
 * Chooses seats and takes them, all or none, together with the rules that guard them: sale, window, limit. A refusal of a rule
 * is thrown, before anything is said about seats.
 */
export abstract class SeatHolds {
  abstract take(wish: HoldRequest): Promise<HoldOutcome>;
}

export interface ExpiredBatch {
  readonly looked: number;
  readonly ended: number;
  /** The last one looked at, its time in microseconds; none when there are no more. */
  readonly next?: { readonly id: string; readonly expiresAt: string } | undefined;
}

/**
 * Reservations and their seats, locked while a transaction decides about them. Whether one has expired is read off the
 * database's clock, wherever the scheduler has got to.
 */
export abstract class Reservations {
  abstract find(reservationId: string): Promise<Reservation | undefined>;
  /** Locked until the transaction ends; undefined when there is none or it is another fan's. */
  abstract lock(tx: Transaction, reservationId: string, userId?: string): Promise<Reservation | undefined>;
  /** Locked, as many as nobody else has locked: waits for nobody. */
  abstract lockFree(tx: Transaction, reservationIds: readonly string[]): Promise<ReadonlyMap<string, Reservation>>;
  abstract setStatus(tx: Transaction, reservationId: string, status: ReservationStatus): Promise<void>;
  /** Gives its seats back: for sale at once. */
  abstract freeSeats(tx: Transaction, reservationId: string): Promise<void>;
  /** Makes its seats sold if every one of them is still its own or free again; false and nothing changed otherwise. */
  abstract sellSeats(tx: Transaction, reservation: Reservation): Promise<boolean>;
  /**
   * A living hold still counts among its fan's seats, and whoever counted them before this gives the fan no more. False when it
   * ended, and the fan was given others, while the transaction was under way.
   */
  abstract staysCounted(tx: Transaction, reservation: Reservation): Promise<boolean>;
  /**
   * Locks the seats and the fans of living holds. Waits for nobody: returns the ids of those that nobody else has a lock on, and
   * that `complete` will take all of.
   */
  abstract lockWhole(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>>;
  /**
   * Sells the seats of living holds and ends these as completed. Waits for nobody: a hold one of whose seats is locked this
   * moment is left as it was. Returns the ids of the others.
   */
  abstract complete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>>;
  /** Counts an ended hold among its fan's seats again; false when with the others they would be more than `limit`. */
  abstract countAgain(tx: Transaction, reservation: Reservation, limit: number): Promise<boolean>;
  /** The living holds of these windows that nobody is paying for. */
  abstract unpaidInWindows(tx: Transaction, sessionTokens: readonly string[]): Promise<readonly string[]>;
  /**
   * Ends up to `limit` reservations whose time has come, oldest first, starting `after` the batch before. Decides nothing and
   * waits for no lock: a reservation with a locked row is left as it was.
   */
  abstract expireDue(limit: number, after?: ExpiredBatch['next']): Promise<ExpiredBatch>;
}

/** Every process that sells hears in which sector seats are free though nobody's hold has ended. Only hints. */
export abstract class SeatsFreed {
  abstract tellFreed(sectorId: string): void;
}
