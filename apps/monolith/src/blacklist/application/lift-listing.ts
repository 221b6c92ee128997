import type { TransactionManager } from '#application/transaction-manager';
import type { Blacklist, BlacklistBroadcast } from './ports.ts';

/** Takes a fan off the list; nothing happens when nobody is on it. */
export class LiftListing {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly blacklist: Blacklist,
    private readonly news: BlacklistBroadcast,
  ) {}

  async execute({ userId, by }: { userId: string; by: string }): Promise<boolean> {
    const wasListed = await this.transactions.run(async (tx) => {
      const at = await this.blacklist.lock(tx);
      return this.blacklist.lift(tx, { userId, by, at });
    });
    await this.news.tell();
    return wasListed;
  }
}
