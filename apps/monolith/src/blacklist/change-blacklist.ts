import type { Ids } from '#application/ids';
import { recordChange } from '#application/recorded-change';
import type { TransactionManager } from '#application/transaction-manager';
import { assertEndsInFuture } from '#domain/blacklist/blacklist-rules';
import type { CachedBlacklist } from './cached-blacklist.ts';
import type { BlacklistEntry, PostgresBlacklist } from './postgres-blacklist.ts';

/** The fan, the reason, the end of the entry (null: no end) and the operator. */
type PutFanOnBlacklistCommand = Pick<BlacklistEntry, 'userId' | 'reason' | 'until'> & { readonly by: string };

/** Changes the blacklist. The copies of the blacklist are updated after the commit. */
export class ChangeBlacklist {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly blacklist: PostgresBlacklist,
    private readonly copies: CachedBlacklist,
    private readonly ids: Ids,
  ) {}

  /** Puts a fan on the blacklist. If the fan is listed already, the new entry replaces the old one; the history keeps both. */
  async put({ userId, reason, until, by }: PutFanOnBlacklistCommand): Promise<{ listing: BlacklistEntry; isNew: boolean }> {
    const listed = await this.transactions.run(async (tx) => {
      const now = await this.blacklist.lock(tx);
      assertEndsInFuture({ until, now });
      const listing = { id: this.ids.next(), userId, reason, until, listedBy: by, listedAt: now };
      const before = await this.blacklist.put(tx, listing);
      recordChange(tx, { target: { type: 'fan', id: userId }, before: before ?? null, after: { reason, until } });
      return { listing, isNew: before === undefined };
    });
    await this.copies.updateAll();
    return listed;
  }

  /** Takes a fan off the blacklist. Returns false if the fan is not on it; then nothing changes. */
  async lift({ userId, by }: { userId: string; by: string }): Promise<boolean> {
    const wasListed = await this.transactions.run(async (tx) => {
      const at = await this.blacklist.lock(tx);
      const before = await this.blacklist.lift(tx, { userId, by, at });
      recordChange(tx, { before: before ?? null, after: null });
      return before !== undefined;
    });
    await this.copies.updateAll();
    return wasListed;
  }
}
