import type { Ids } from '#application/ids';
import type { TransactionManager } from '#application/transaction-manager';
import { assertEndsInFuture } from '#domain/blacklist/blacklist-rules';
import type { Blacklist, BlacklistCopies, BlacklistEntry } from './ports.ts';

/** The fan, the reason, the end of the entry (null: no end) and the operator. */
export interface PutFanOnBlacklistCommand {
  readonly userId: string;
  readonly reason: string;
  readonly until: Date | null;
  readonly by: string;
}

/** Puts a fan on the blacklist. If the fan is listed already, the new entry replaces the old one; the history keeps both. */
export class PutFanOnBlacklist {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly blacklist: Blacklist,
    private readonly copies: BlacklistCopies,
    private readonly ids: Ids,
  ) {}

  async execute({ userId, reason, until, by }: PutFanOnBlacklistCommand): Promise<{ listing: BlacklistEntry; isNew: boolean }> {
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
