import type { CatalogSector } from '#domain/catalog/match';
import type { ReservationStatus } from '#domain/purchase/reservation';

/** A sector of a match, with the currency of its price. */
export interface SectorForSale extends CatalogSector {
  readonly currency: string;
}

/** A seat of a reservation, with the price that the fan pays. */
export interface ReservedSeat {
  readonly seatId: string;
  readonly sector: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly priceCents: number;
}

/** A fan's hold of seats and what became of it. It is kept when the hold has ended. */
export interface Reservation {
  readonly id: string;
  readonly matchId: string;
  readonly sectorId: string;
  readonly userId: string;
  readonly sessionToken: string | null;
  /**
   * The invitation whose places are held. Null for a hold of the public. A hold of an invitation needs no turn and counts against
   * no fan's limit.
   */
  readonly invitationId: string | null;
  readonly status: ReservationStatus;
  readonly together: boolean;
  readonly seats: readonly ReservedSeat[];
  readonly totalCents: number;
  readonly currency: string;
  readonly expiresAt: Date;
}
