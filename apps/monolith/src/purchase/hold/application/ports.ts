import type { IdempotencyKey } from '#application/idempotency-key';
import type { FreeSeat } from '#domain/purchase/nearest-block';
import type { Reservation, SectorForSale } from '../../application/ports.ts';

/**
 * The fans who may not buy, as this process has cached them. The cache may be a second old, so checkout reads the blacklist in the
 * database.
 */
export interface Blacklist {
  has(userId: string): boolean;
}

/** The fan and the circumstances of a request to hold seats of a match. */
export interface HoldCaller {
  readonly matchId: string;
  readonly userId: string;
  /** Session token of the fan's turn, when the match has a waiting room. */
  readonly sessionToken: string | undefined;
  /** The idempotency key of the request, committed in the same statement as the hold. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** When the caller stops waiting, in milliseconds since 1970. Without it the request never times out. */
  readonly deadlineAtMs?: number | undefined;
}

/** What a fan asks for: the best `quantity` seats of one sector, or exactly the seats `seatIds` of it. */
export type HoldRequest = HoldCaller & { readonly sector: SectorForSale } & (
    { readonly quantity: number } | { readonly seatIds: readonly string[] }
  );

/** How many seats the request asks for. */
export function requestedSeats(request: HoldRequest): number {
  return 'quantity' in request ? request.quantity : request.seatIds.length;
}

/** What became of a hold request that broke no rule. */
export type HoldOutcome =
  | { readonly kind: 'held'; readonly reservation: Reservation }
  /** Nothing was changed. `taken`: these seats have an owner. `busy`: other transactions have them locked at this moment. */
  | { readonly kind: 'lost'; readonly taken: readonly string[]; readonly busy: readonly string[] }
  /** Nothing was changed: the sector has too few free seats, or other requests took them first. */
  | { readonly kind: 'none' };

/**
 * Chooses seats and holds them, all or none. Checks in the same transaction that the sale is open, the turn valid and the ticket
 * limit kept. A broken rule is thrown as an error, even if the seats are taken too.
 */
export abstract class SeatHolds {
  abstract hold(request: HoldRequest): Promise<HoldOutcome>;
}

/** Reads seats to explain why a hold was refused. The data may be a moment old; it never decides a hold. */
export interface SectorReader {
  /** The sector of each of these seats; unknown seats, and seats of other matches, are missing. */
  sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  sectorState(matchId: string, sectorId: string): Promise<SectorSummary>;
  /** The seats of a sector, sorted by row, and in a row by number. */
  seats(sectorId: string): Promise<readonly SectorSeat[]>;
}

/** The counts of one sector, for the refusal of a hold. */
export interface SectorSummary {
  readonly available: number;
  readonly held: number;
  /** The earliest end of all current holds in the sector; null when no seat is held. */
  readonly nextExpiryAt: Date | null;
  /** Whether other sectors of the match have free seats. */
  readonly othersHaveSeats: boolean;
}

/** A seat of a sector, for the search for an alternative to taken seats. */
export type SectorSeat = FreeSeat & { readonly status: string };

/**
 * Broadcasts to all processes that seats of a sector changed although no hold ended: a refund, or a move from or to a quota. Only a hint: it may get
 * lost.
 */
export interface SeatsFreed {
  tellFreed(sectorId: string): void;
}

/**
 * Broadcasts to all processes that these free seats (ids by sector) move to a quota now, so that nobody proposes them until `untilMs` or
 * until `tellFreed`. Only a hint.
 */
export interface SeatsMoving {
  tellMoving(seatIds: Readonly<Record<string, readonly string[]>>, untilMs: number): void;
}
