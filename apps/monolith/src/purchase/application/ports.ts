import type { Transaction } from '#application/transaction-manager';
import type { OrderStatus } from '#domain/purchase/order';
import type { ReservationStatus } from '#domain/purchase/reservation';
import type { SaleStatus } from '#domain/catalog/sale';

export interface MatchForSale {
  readonly id: string;
  readonly name: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly currency: string;
  readonly maxTicketsPerFan: number;
  readonly queueRequired: boolean;
  readonly saleStatus: SaleStatus;
  readonly opensAt: Date | null;
}

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

/** Matches and sectors for sale, read from the catalog. */
export abstract class MatchesForSale {
  abstract match(matchId: string, tx?: Transaction): Promise<MatchForSale | undefined>;
  abstract sector(sectorId: string): Promise<SectorForSale | undefined>;
  abstract sectors(matchId: string): Promise<readonly SectorForSale[]>;
  /** Sector name → stadium gate; null for a sector without a gate. */
  abstract gates(matchId: string, tx: Transaction): Promise<ReadonlyMap<string, string | null>>;
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

export interface Order {
  readonly id: string;
  readonly number: string;
  readonly matchId: string;
  readonly reservationId: string;
  readonly userId: string;
  readonly sessionToken: string | null;
  readonly status: OrderStatus;
  readonly totalCents: number;
  readonly currency: string;
  readonly email: string;
  readonly holders: readonly { seatId: string; name: string }[];
  readonly payment: {
    readonly provider: string;
    readonly intentId: string | null;
    readonly clientSecret: string | null;
    readonly confirmUrl: string | null;
  };
  /** The idempotency key of the checkout request that created this order. */
  readonly placedWithKey: string | null;
}
