import type { Ids } from '#application/ids';
import type { TransactionManager } from '#application/transaction-manager';
import { assertEndsInFuture } from '#domain/blacklist/listed-fans';
import type { Blacklist, BlacklistCopies, Listing } from './ports.ts';

export interface ListFanCommand {
  readonly userId: string;
  readonly reason: string;
  readonly until: Date | null;
  readonly by: string;
}

/** Puts a fan on the blacklist. If the fan is listed already, the new entry replaces the old one; the history keeps both. */
export class ListFan {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly blacklist: Blacklist,
    private readonly copies: BlacklistCopies,
    private readonly ids: Ids,
  ) {}

  async execute({ userId, reason, until, by }: ListFanCommand): Promise<{ listing: Listing; isNew: boolean }> {
    const listed = await this.transactions.run(async (tx) => {
      const now = await this.blacklist.lock(tx);
      assertEndsInFuture({ until, now });
      const listing = { id: this.ids.next(), userId, reason, until, listedBy: by, listedAt: now };
      return { listing, isNew: await this.blacklist.put(tx, listing) };
    });
    await this.copies.updateAll();
    return listed;
  }
}
