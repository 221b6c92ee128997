import { BLACKLIST_CHANNEL, BLACKLIST_REVISION, queueKeys } from '#contracts/queue-keys';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { WholeBlacklist } from './postgres-blacklist.ts';

/** An HSET of so many takes Redis two milliseconds. */
const FANS_AT_ONCE = 5000;

/** What the waiting room knows of the list: it asks no PostgreSQL. */
export class RedisBlacklist {
  constructor(private readonly redis: RedisConnection) {}

  /** Null after Redis has lost everything. */
  revision(): Promise<string | null> {
    return this.redis.hget(queueKeys.blacklist, BLACKLIST_REVISION);
  }

  /**
   * The whole of it, in one step. Two replicas that write different revisions leave the later write, whichever that is; a second
   * on, one of them sees that it is not the present one.
   */
  async write({ revision, fans }: WholeBlacklist): Promise<void> {
    const all = fans.flatMap(({ userId, untilMs }) => [userId, untilMs ?? '']);
    const change = this.redis.multi().del(queueKeys.blacklist).hset(queueKeys.blacklist, BLACKLIST_REVISION, revision);
    for (let from = 0; from < all.length; from += 2 * FANS_AT_ONCE) {
      change.hset(queueKeys.blacklist, ...all.slice(from, from + 2 * FANS_AT_ONCE));
    }
    for (const [error] of (await change.exec()) ?? []) if (error) throw error;
  }

  async hint(): Promise<void> {
    await this.redis.publish(BLACKLIST_CHANNEL, 'changed');
  }
}
