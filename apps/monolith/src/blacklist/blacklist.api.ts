import type { Transaction } from '#application/transaction-manager';

/** Who may not buy, for those who sell. */
export abstract class BlacklistApi {
  /** From memory, in force a moment after it was decided, at most about a second: for the rush. */
  abstract has(userId: string): boolean;
  /** Those of them who are listed, as it is in this transaction: what memory let through ends here. */
  abstract listed(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>>;
}
