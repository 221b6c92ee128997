import type { PlaceInSector } from './sector-map.ts';

/** A free place, as far as memory knows. */
export interface FreePlace extends PlaceInSector {
  readonly seatId: string;
}
