import type { Transaction } from '#application/transaction-manager';
import type { SaleStatus } from '#domain/catalog/sale';

/** A match with the settings of its queue and the state of its sale. */
export interface CatalogMatch {
  readonly id: string;
  readonly home: string;
  readonly away: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly currency: string;
  readonly maxTicketsPerFan: number;
  readonly queueRequired: boolean;
  readonly opensAt: Date | null;
  /** The status at the time of reading: a scheduled sale is open once `opensAt` has passed. */
  readonly saleStatus: SaleStatus;
  readonly pauseReason: string | null;
  /** When an operator cancelled the match; null if it is not cancelled. */
  readonly cancelledAt: Date | null;
  readonly cancelReason: string | null;
  readonly processingRate: number;
  readonly maxOpenWindows: number;
}

/** A part of the stadium with one price, for one match. */
export interface CatalogSector {
  readonly id: string;
  readonly matchId: string;
  readonly name: string;
  readonly kind: 'seated' | 'standing';
  readonly gate: string | null;
  readonly priceCents: number;
  readonly capacity: number;
}

/**
 * What other contexts may read from the catalogue, and what the operations context may change. Reads without `tx` see the latest
 * commit.
 */
export abstract class CatalogApi {
  abstract match(matchId: string, tx?: Transaction): Promise<CatalogMatch | undefined>;
  abstract sectors(matchId: string, tx?: Transaction): Promise<readonly CatalogSector[]>;
  abstract sector(sectorId: string): Promise<CatalogSector | undefined>;
  abstract list(filter: { status?: SaleStatus; after?: string; limit: number }): Promise<readonly CatalogMatch[]>;
  /** Matches whose sale is not closed, latest kick-off first. */
  abstract running(limit: number): Promise<readonly CatalogMatch[]>;
  abstract add(tx: Transaction, match: CatalogMatch, sectors: readonly CatalogSector[]): Promise<void>;
  abstract update(tx: Transaction, matchId: string, change: Partial<Omit<CatalogMatch, 'id'>>): Promise<void>;
}
