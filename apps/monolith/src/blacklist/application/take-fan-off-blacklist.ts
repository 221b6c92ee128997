import type { TransactionManager } from '#application/transaction-manager';
import type { Blacklist, BlacklistCopies } from './ports.ts';

/** Takes a fan off the blacklist. Nothing happens if the fan is not on it. */
export class TakeFanOffBlacklist {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly blacklist: Blacklist,
    private readonly copies: BlacklistCopies,
  ) {}

  async execute({ userId, by }: { userId: string; by: string }): Promise<boolean> {
    const wasListed = await this.transactions.run(async (tx) => {
      const at = await this.blacklist.lock(tx);
      return this.blacklist.lift(tx, { userId, by, at });
    });
    await this.copies.updateAll();
    return wasListed;
  }
}
