import type { Freshness } from '#application/freshness';
import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch, CatalogSector } from '#domain/catalog/match';
import type { SaleStatus } from '#domain/catalog/sale';

export type { CatalogMatch, CatalogSector };

/** Which matches to list. */
export interface MatchFilter {
  readonly status?: SaleStatus;
  readonly search?: string;
  readonly after?: string;
  readonly limit: number;
}

/**
 * What other contexts may read from the catalogue, and what the operations context may change. Reads without `tx` see the latest
 * commit.
 */
export abstract class CatalogApi {
  abstract match(matchId: string, tx?: Transaction): Promise<CatalogMatch | undefined>;
  /** The match for somebody who only looks at it: from the replica of the database if that is fresh enough. */
  abstract shownMatch(freshness: Freshness, matchId: string): Promise<CatalogMatch | undefined>;
  abstract sectors(matchId: string, tx?: Transaction): Promise<readonly CatalogSector[]>;
  abstract sector(sectorId: string, tx?: Transaction): Promise<CatalogSector | undefined>;
  /** By kick-off; with words in `search` the matches that have all of them, best first. `after` is the last match of a page. */
  abstract list(filter: MatchFilter): Promise<readonly CatalogMatch[]>;
  /** The list for somebody who only looks at it: from the replica of the database if that is fresh enough. */
  abstract shownList(freshness: Freshness, filter: MatchFilter): Promise<readonly CatalogMatch[]>;
  /**
   * Matches whose sale is not closed and that kicked off less than a day ago or will kick off, latest kick-off first. Many sales of past
   * matches are never closed.
   */
  abstract running(limit: number): Promise<readonly CatalogMatch[]>;
  abstract add(tx: Transaction, match: CatalogMatch, sectors: readonly CatalogSector[]): Promise<void>;
  abstract update(tx: Transaction, matchId: string, change: Partial<Omit<CatalogMatch, 'id'>>): Promise<void>;
}

/** What a rebuild of the search index did. */
export interface MatchSearchRebuild {
  /** False if it was stopped. The next rebuild continues it. */
  readonly isComplete: boolean;
  /** The rebuild that this one continued, as it was at that time; null if it began with the first match. */
  readonly continuedFrom: { readonly startedAt: Date; readonly done: number } | null;
  /** How many matches this process indexed. */
  readonly indexed: number;
}

export interface RebuildOptions {
  /** Begins with the first match, also if a rebuild is unfinished. */
  readonly restart: boolean;
  /** Called after each batch with the number of matches done, by all processes, and of all matches. */
  readonly onProgress: (done: number, total: number) => void;
  /** When aborted, the rebuild finishes its batch and stops. */
  readonly stop: AbortSignal;
}

/** The search index of the matches, for the CLI. */
export abstract class MatchSearchApi {
  /** Indexes every match again, also while matches change. Continues an unfinished rebuild, also one that still runs. */
  abstract rebuild(options: RebuildOptions): Promise<MatchSearchRebuild>;
}
