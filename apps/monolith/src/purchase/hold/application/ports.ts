import type { IdempotencyKey } from '#application/idempotency-key';
import type { Reservation, SectorForSale } from '../../application/ports.ts';

/** Fans who may not buy, as this process knows them. The list may be a second old, so checkout reads the database again. */
export abstract class Blacklist {
  abstract has(userId: string): boolean;
}

/** Seats of one sector that a fan asks for: the best `quantity` of them, or exactly `seatIds`. */
export type HoldRequest = {
  readonly matchId: string;
  readonly userId: string;
  /** Session token of the fan's turn, when the match has a waiting room. */
  readonly sessionToken: string | undefined;
  readonly sector: SectorForSale;
  /** Committed in the same statement as the hold. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** When the caller stops waiting, in milliseconds since 1970. Without it the request never times out. */
  readonly deadlineAtMs?: number | undefined;
} & ({ readonly quantity: number } | { readonly seatIds: readonly string[] });

export function requestedSeats(request: HoldRequest): number {
  return 'quantity' in request ? request.quantity : request.seatIds.length;
}

export type HoldOutcome =
  | { readonly kind: 'held'; readonly reservation: Reservation }
  /** Nothing was changed. `taken`: these seats have an owner. `busy`: other transactions have them locked at this moment. */
  | { readonly kind: 'lost'; readonly taken: readonly string[]; readonly busy: readonly string[] }
  /** Nothing was changed: the sector has too few free seats, or other requests took them first. */
  | { readonly kind: 'none' };

/**
 * Chooses seats and holds them, all or none. Sale, turn and ticket limit are checked in the same transaction. A broken rule is
 * thrown as an error, also when the seats are taken as well.
 */
export abstract class SeatHolds {
  abstract hold(request: HoldRequest): Promise<HoldOutcome>;
}

/** Reads a reservation of any status. */
export abstract class ReservationReader {
  abstract find(reservationId: string): Promise<Reservation | undefined>;
}

/** Reads seats for the answer to a hold that failed. The data may be a moment old; it never decides a hold. */
export abstract class SectorReader {
  /** The sector of each of these seats; unknown seats are missing. */
  abstract sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  abstract sectorState(matchId: string, sectorId: string): Promise<SectorSummary>;
  abstract seats(sectorId: string): Promise<readonly SectorSeat[]>;
}

export interface SectorSummary {
  readonly available: number;
  readonly held: number;
  /** When the next hold of the sector ends; null when no seat is held. */
  readonly nextExpiryAt: Date | null;
  /** Whether other sectors of the match have free seats. */
  readonly othersHaveSeats: boolean;
}

export interface SectorSeat {
  readonly seatId: string;
  readonly status: string;
  readonly rowIndex: number;
  readonly number: number | null;
  readonly rank: number;
}

/** Broadcasts to all processes that seats of a sector became free without the end of a hold (a refund). Only a hint. */
export abstract class SeatsFreed {
  abstract tellFreed(sectorId: string): void;
}
