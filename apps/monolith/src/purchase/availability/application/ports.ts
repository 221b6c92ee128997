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
