import type { Transaction } from '#application/transaction-manager';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';

/** How many seats of a sector are in each state. */
export interface SectorState {
  readonly sectorId: string;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
  /** When the next hold of the sector ends; null when no seat is held. */
  readonly nextExpiryAt: Date | null;
}

export interface SeatState extends SeatGeometry {
  readonly seatId: string;
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
}

/** Seats as any caller may see them. The data may be a moment old, so it never decides a hold. An expired hold is available. */
export abstract class SeatInventory {
  /** Creates the seats of a new match. */
  abstract layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; seats: readonly SeatGeometry[] }[],
  ): Promise<void>;
  /** Ordered by row, and in a row by number. */
  abstract seats(sectorId: string): Promise<readonly SeatState[]>;
  abstract states(matchId: string): Promise<readonly SectorState[]>;
  /** `othersHaveSeats`: another sector of the match has free seats. */
  abstract sectorState(matchId: string, sectorId: string): Promise<SectorState & { readonly othersHaveSeats: boolean }>;
  /** The sector of each of these seats; unknown seats are missing. */
  abstract sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
