import type { Origin } from '#application/origin';
import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch } from '#domain/catalog/match';
import type { OrderStatus } from '#domain/purchase/order';
import type { SectorForSale } from './ports.ts';

/** What `purchase` needs to know about a match. */
export interface MatchForSale extends Pick<
  CatalogMatch,
  'id' | 'venue' | 'kickoffAt' | 'currency' | 'maxTicketsPerFan' | 'queueRequired' | 'saleStatus' | 'opensAt'
> {
  readonly name: string;
}

/** Matches and sectors for sale, read from the catalog. A sector never changes while its match is on sale. */
export abstract class MatchesForSale {
  /** Inside a transaction pass `tx`: reading with another connection, a hundred transactions would wait for each other's. */
  abstract sector(sectorId: string, tx?: Transaction): Promise<SectorForSale | undefined>;
  abstract sectors(matchId: string): Promise<readonly SectorForSale[]>;
  abstract match(matchId: string, tx?: Transaction): Promise<MatchForSale | undefined>;
  /** Sector name → stadium gate; null for a sector without a gate. */
  abstract gates(matchId: string, tx: Transaction): Promise<ReadonlyMap<string, string | null>>;
}

/** An order: a reservation in checkout, paid, or ended. */
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
  /** The checkout request that created this order. All messages about the purchase name it. Null for orders of version 0.2.0. */
  readonly origin: Origin | null;
}
