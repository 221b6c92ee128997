import type { SeatInSector } from './sector-map.ts';

/** A seat that is free according to this process's sector snapshot. */
export interface FreeSeat extends SeatInSector {
  readonly seatId: string;
}
