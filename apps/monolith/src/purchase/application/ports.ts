import type { ReservationStatus } from '#domain/purchase/reservation';

export interface SectorForSale {
  readonly id: string;
  readonly matchId: string;
  readonly name: string;
  readonly kind: 'seated' | 'standing';
  readonly gate: string | null;
  readonly priceCents: number;
  readonly currency: string;
  readonly capacity: number;
}

/** Sectors of the catalogue. They never change while a match is on sale. */
export abstract class SectorsForSale {
  abstract sector(sectorId: string): Promise<SectorForSale | undefined>;
  abstract sectors(matchId: string): Promise<readonly SectorForSale[]>;
}

export interface ReservedSeat {
  readonly seatId: string;
  readonly sector: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly priceCents: number;
}

export interface Reservation {
  readonly id: string;
  readonly matchId: string;
  readonly sectorId: string;
  readonly userId: string;
  readonly sessionToken: string | null;
  readonly status: ReservationStatus;
  readonly together: boolean;
  readonly seats: readonly ReservedSeat[];
  readonly totalCents: number;
  readonly currency: string;
  readonly expiresAt: Date;
}
