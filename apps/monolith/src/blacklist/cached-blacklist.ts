import type { Transaction } from '#application/transaction-manager';
import { BLACKLIST_CHANNEL, BLACKLIST_REVISION, queueKeys } from '#contracts/queue-keys';
import { ListedFans } from '#domain/blacklist/listed-fans';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, REDIS } from '../tokens.ts';
import { BlacklistApi } from './blacklist.api.ts';
import { PostgresBlacklist, type BlacklistSnapshot } from './postgres-blacklist.ts';

/** An HSET of 5,000 fans blocks Redis for about two milliseconds. */
const FANS_PER_HSET = 5000;

/**
 * The blacklist in this process's memory. A request for a hold checks this memory: at peak load thousands of such requests would
 * query the table, and almost none of these fans is in it. Memory is at most a second behind the database. A listed fan who still
 * gets a hold in that second is refused at the checkout, which reads the database.
 *
 * It also keeps the copy in Redis. The queue service reads that copy, because it never queries PostgreSQL.
 */
@Injectable()
export class CachedBlacklist extends BlacklistApi {
  private readonly fans = new ListedFans();
  private snapshot: BlacklistSnapshot | undefined;
  private refreshing: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: PostgresBlacklist,
    @Inject(REDIS) private readonly redis: RedisConnection,
    @Inject(LOGGER) private readonly logger: Logger,
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
    await this.redis.publish(BLACKLIST_CHANNEL, 'changed').catch(() => undefined);
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
    if (!this.snapshot || (await this.redis.hget(queueKeys.blacklist, BLACKLIST_REVISION)) === this.snapshot.revision)
      return false;
    await this.writeToRedis(this.snapshot);
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

  /**
   * Replaces the whole copy in one MULTI. If two replicas write different revisions at once, the later write stays, even if it
   * is the older revision. The next refresh, within a second, corrects it.
   */
  private async writeToRedis({ revision, fans }: BlacklistSnapshot): Promise<void> {
    const all = fans.flatMap(({ userId, untilMs }) => [userId, untilMs ?? '']);
    const change = this.redis.multi().del(queueKeys.blacklist).hset(queueKeys.blacklist, BLACKLIST_REVISION, revision);
    for (let from = 0; from < all.length; from += 2 * FANS_PER_HSET) {
      change.hset(queueKeys.blacklist, ...all.slice(from, from + 2 * FANS_PER_HSET));
    }
    for (const [error] of (await change.exec()) ?? []) if (error) throw error;
  }
}
