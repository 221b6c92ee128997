import type { Transaction } from '#application/transaction-manager';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';

export interface SectorState {
  readonly sectorId: string;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
  /** When the next hold of the sector ends; null when nothing is held. */
  readonly nextExpiryAt: Date | null;
}

export interface SeatState extends SeatGeometry {
  readonly seatId: string;
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
}

/** Seats as anybody may see them: a moment old, never trusted for a "yes". An expired hold reads as available. */
export abstract class SeatInventory {
  abstract layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; places: readonly SeatGeometry[] }[],
  ): Promise<void>;
  /** In the order of their rows. */
  abstract seats(sectorId: string): Promise<readonly SeatState[]>;
  abstract states(matchId: string): Promise<readonly SectorState[]>;
  abstract sectorState(matchId: string, sectorId: string): Promise<SectorState & { readonly othersHaveSeats: boolean }>;
  /** Which sector each of these seats is in; unknown ones are missing. */
  abstract sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
