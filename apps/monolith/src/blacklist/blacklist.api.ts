import type { Transaction } from '#application/transaction-manager';

/** Tells other contexts which fans may not buy. */
export abstract class BlacklistApi {
  /**
   * Whether the fan is on the blacklist. Reads only this process's memory, so the call is cheap at peak load. The memory is at
   * most about a second behind the database.
   */
  abstract has(userId: string): boolean;
  /**
   * Returns those of `userIds` who are on the blacklist, read from the database in this transaction. The answer is exact, unlike
   * that of `has`.
   */
  abstract listed(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>>;
}
