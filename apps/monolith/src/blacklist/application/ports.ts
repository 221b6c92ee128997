import type { Transaction } from '#application/transaction-manager';

export interface Listing {
  readonly id: string;
  readonly userId: string;
  readonly reason: string;
  readonly until: Date | null;
  readonly listedBy: string;
  readonly listedAt: Date;
}

export interface ListingChange {
  readonly action: 'list' | 'lift';
  readonly reason: string | null;
  readonly until: Date | null;
  readonly by: string;
  readonly at: Date;
}

/** The list and its history. Entries whose time is up are on it no more. */
export abstract class Blacklist {
  /** Keeps other writers out until the transaction ends; answers what the database's clock says. */
  abstract lock(tx: Transaction): Promise<Date>;
  /** In place of what was said of this fan before. False: the fan was listed already. */
  abstract put(tx: Transaction, listing: Listing): Promise<boolean>;
  /** False when the fan was not listed. */
  abstract lift(tx: Transaction, change: { userId: string; by: string; at: Date }): Promise<boolean>;
  abstract find(userId: string): Promise<{ listing: Listing | undefined; changes: readonly ListingChange[] }>;
  /** Newest first. */
  abstract list(page: { before: string | undefined; limit: number }): Promise<readonly Listing[]>;
}

/** The list where it is asked for in a hurry: in memory, and in the waiting room. */
export abstract class BlacklistBroadcast {
  /** In force here when it returns, elsewhere a moment later. Never fails: who could not be told looks within a second. */
  abstract tell(): Promise<void>;
  /** Brings what this process knows up to date. */
  abstract look(): Promise<void>;
  /** Brings what the waiting room knows up to date with that; true when it was behind. */
  abstract reflect(): Promise<boolean>;
}
