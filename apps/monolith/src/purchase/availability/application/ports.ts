import type { Transaction } from '#application/transaction-manager';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';

/** How many seats of a sector are in each state. */
export interface SectorState {
  readonly sectorId: string;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
  /** The earliest end of all current holds in the sector; null when no seat is held. */
  readonly nextExpiryAt: Date | null;
}

/** A seat with its position and its current status. */
export interface SeatState extends SeatGeometry {
  readonly seatId: string;
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
}

/**
 * Creates and reads the seats of matches. The data that it reads may be a moment old, so it never decides a hold. The seat of an
 * expired hold is `available`.
 */
export abstract class SeatInventory {
  /** Creates the seats of a new match. */
  abstract layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; seats: readonly SeatGeometry[] }[],
  ): Promise<void>;
  /** The seats of a sector, sorted by row, and in a row by number. */
  abstract seats(sectorId: string): Promise<readonly SeatState[]>;
  /** The counts of every sector of a match. */
  abstract states(matchId: string): Promise<readonly SectorState[]>;
  /** The counts of one sector. `othersHaveSeats`: another sector of the match has free seats. */
  abstract sectorState(matchId: string, sectorId: string): Promise<SectorState & { readonly othersHaveSeats: boolean }>;
  /** The sector of each of these seats; unknown seats are missing. */
  abstract sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
