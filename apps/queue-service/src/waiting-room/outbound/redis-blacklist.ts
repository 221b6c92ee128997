import { BLACKLIST_REVISION, queueKeys } from '#contracts/queue-keys';
import { ListedFans } from '#domain/blacklist/listed-fans';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { Blacklist } from '../application/ports.ts';

/**
 * A copy of the monolith's blacklist in the memory of this pod. A join checks the copy without a call to Redis, where the
 * blacklist is in another cluster slot than the line. If Redis has lost the blacklist, the copy stays in use until the monolith
 * has written the blacklist again, a second or two later.
 */
export class RedisBlacklist implements Blacklist {
  private readonly fans = new ListedFans();
  private revision: string | null = null;

  constructor(
    private readonly redis: RedisConnection,
    private readonly nowMs: () => number,
  ) {}

  has(userId: string): boolean {
    return this.fans.has(userId, this.nowMs());
  }

  async refresh(): Promise<readonly string[]> {
    const revision = await this.redis.hget(queueKeys.blacklist, BLACKLIST_REVISION);
    if (revision === this.revision) return [];
    const [startedAtMs, [seconds, micros]] = [this.nowMs(), await this.redis.time()];
    const redisNowMs = Number(seconds) * 1000 + Number(micros) / 1000;
    const { [BLACKLIST_REVISION]: read, ...entries } = await this.redis.hgetall(queueKeys.blacklist);
    // Redis has lost the blacklist: keep the copy in memory.
    if (read === undefined) return [];
    const listed = Object.entries(entries).map(([userId, untilMs]) => ({
      userId,
      restMs: untilMs === '' ? null : Number(untilMs) - redisNowMs,
    }));
    this.revision = read;
    return this.fans.replace(listed, startedAtMs);
  }
}
