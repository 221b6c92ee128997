import type { ReservationStatus } from '#domain/purchase/reservation';
import type { Reservation } from '../../application/ports.ts';

/** A fan's search of the fan's own reservations. A reservation must match every given field. */
export interface ReservationSearch {
  readonly userId: string;
  readonly matchId?: string | undefined;
  readonly status?: ReservationStatus | undefined;
  /** Only reservations older than this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Lists the reservations of a fan for display, outside of any transaction. */
export abstract class ReservationReader {
  /** A page of the fan's reservations of all states, newest first. */
  abstract list(search: ReservationSearch): Promise<Reservation[]>;
}
