import type { Transaction } from '#application/transaction-manager';
import { ListedFans } from '#domain/blacklist/listed-fans';
import type { Logger } from '#platform/logging/logger';
import { BlacklistApi } from './blacklist.api.ts';
import type { PostgresBlacklist, BlacklistSnapshot } from './postgres-blacklist.ts';
import type { RedisBlacklist } from './redis-blacklist.ts';

/**
 * The blacklist in this process's memory. A request for a hold checks this memory: at peak load thousands of such requests would
 * query the table, and almost none of these fans is in it. Memory is at most a second behind the database. A listed fan who still
 * gets a hold in that second is refused at the checkout, which reads the database.
 */
export class CachedBlacklist extends BlacklistApi {
  private readonly fans = new ListedFans();
  private snapshot: BlacklistSnapshot | undefined;
  private refreshing: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: PostgresBlacklist,
    private readonly redisCopy: RedisBlacklist,
    private readonly logger: Logger,
  ) {
    super();
  }

  has(userId: string): boolean {
    return this.fans.has(userId, performance.now());
  }

  listed(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.store.listed(tx, userIds);
  }

  /**
   * After a change: updates this process's copy and the Redis copy, then tells the other processes to refresh theirs. Never
   * throws: a process that did not receive the message refreshes its copy within a second anyway.
   */
  async updateAll(): Promise<void> {
    try {
      await this.refreshMemory();
      await this.refreshRedis();
    } catch (error) {
      this.logger.warn({ err: error }, 'a copy of the blacklist could not be updated; the next refresh is within a second');
    }
    await this.redisCopy.publishChange().catch(() => undefined);
  }

  /**
   * Reads the blacklist from the database into memory, if the blacklist has changed. Refreshes run one after another, so that an
   * older snapshot never replaces a newer one.
   */
  refreshMemory(): Promise<void> {
    const refresh = this.refreshing.then(() => this.refreshOnce());
    this.refreshing = refresh.catch(() => undefined);
    return refresh;
  }

  /**
   * Writes the copy in Redis if its revision is not ours: the revision is another one after a change, and missing after Redis
   * lost its data. Returns true if it wrote.
   */
  async refreshRedis(): Promise<boolean> {
    if (!this.snapshot || (await this.redisCopy.revision()) === this.snapshot.revision) return false;
    await this.redisCopy.write(this.snapshot);
    return true;
  }

  private async refreshOnce(): Promise<void> {
    if (this.snapshot && (await this.store.revision()) === this.snapshot.revision) return;
    const startedAt = performance.now();
    this.snapshot = await this.store.all();
    // The query returns how long each entry still counts. We add this to the time before the query, not after it, so an entry may
    // end some milliseconds too early, never too late.
    this.fans.replace(this.snapshot.fans, startedAt);
  }
}
