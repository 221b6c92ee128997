import { BLACKLIST_CHANNEL, BLACKLIST_REVISION, queueKeys } from '#contracts/queue-keys';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { BlacklistSnapshot } from './postgres-blacklist.ts';

/** An HSET of 5,000 fans blocks Redis for about two milliseconds. */
const FANS_PER_HSET = 5000;

/** The copy of the blacklist in Redis. The queue service reads this copy, because it never queries PostgreSQL. */
export class RedisBlacklist {
  constructor(private readonly redis: RedisConnection) {}

  /** The revision of the copy; null after Redis has lost its data. */
  revision(): Promise<string | null> {
    return this.redis.hget(queueKeys.blacklist, BLACKLIST_REVISION);
  }

  /**
   * Replaces the whole copy in one MULTI. If two replicas write different revisions at once, the later write stays, even if it
   * is the older revision. The next refresh, within a second, corrects it.
   */
  async write({ revision, fans }: BlacklistSnapshot): Promise<void> {
    const all = fans.flatMap(({ userId, untilMs }) => [userId, untilMs ?? '']);
    const change = this.redis.multi().del(queueKeys.blacklist).hset(queueKeys.blacklist, BLACKLIST_REVISION, revision);
    for (let from = 0; from < all.length; from += 2 * FANS_PER_HSET) {
      change.hset(queueKeys.blacklist, ...all.slice(from, from + 2 * FANS_PER_HSET));
    }
    for (const [error] of (await change.exec()) ?? []) if (error) throw error;
  }

  /** Tells the other processes to refresh their copies of the blacklist. */
  async publishChange(): Promise<void> {
    await this.redis.publish(BLACKLIST_CHANNEL, 'changed');
  }
}
