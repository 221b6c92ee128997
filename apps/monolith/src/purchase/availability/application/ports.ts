import type { SeatGeometry } from '#domain/catalog/stadium-layout';
import type { SeatCounts } from '../../purchase.api.ts';

/** How many seats of a sector are in each state. */
export interface SectorState extends SeatCounts {
  readonly sectorId: string;
  /** The earliest end of all current holds in the sector; null when no seat is held. */
  readonly nextExpiryAt: Date | null;
}

/** A seat with its position and its current status. */
export interface SeatState extends SeatGeometry {
  readonly seatId: string;
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
}
