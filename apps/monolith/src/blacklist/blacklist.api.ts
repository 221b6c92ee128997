import type { Transaction } from '#application/transaction-manager';

/** Tells other contexts which fans may not buy. */
export abstract class BlacklistApi {
  /** Reads memory only, so it is cheap at peak load. It is at most about a second behind the database. */
  abstract has(userId: string): boolean;
  /** Returns the listed fans among `userIds`, read in this transaction. It is exact, unlike `has`, whose memory may be stale. */
  abstract listed(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>>;
}
