import type { SeatInSector } from './sector-map.ts';

/** A free place, as far as memory knows. */
export interface FreeSeat extends SeatInSector {
  readonly seatId: string;
}
