import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch, CatalogSector } from '#domain/catalog/match';
import type { SaleStatus } from '#domain/catalog/sale';

export type { CatalogMatch, CatalogSector };

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
