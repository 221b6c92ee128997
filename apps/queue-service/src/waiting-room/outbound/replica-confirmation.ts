import type { RedisConnection } from '#platform/redis/redis-connection';
import type { RedisScript } from '#platform/redis/script';

const WAIT_MS = 100;
/** A server that lost its replicas takes no promises for so long: what the link's cut hides may be a failover (F08). */
const ALONE_MS = 10_000;

interface MatchCall {
  readonly matchId: string;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/**
 * Acknowledges what Redis did only once `replicas` of them have it (W13): a join that a failover takes away was never
 * promised. Unconfirmed is 503, safe to send again: joining finds the place. After a failover the promoted server has no
 * replica to wait for; refusing everybody until one is back would make a short outage a long one, so it is taken at its word.
 */
export class ReplicaConfirmation {
  private aloneSinceMs: number | undefined;

  constructor(
    private readonly replicas: number,
    private readonly unconfirmed: () => void = () => undefined,
  ) {}

  async run<T>(redis: RedisConnection, script: RedisScript, call: MatchCall): Promise<T> {
    const wait = { replicas: this.replicas, timeoutMs: WAIT_MS };
    const { reply, confirmedBy } = await script.runAndWait<T>(redis, call, wait);
    if (confirmedBy >= this.replicas) {
      this.aloneSinceMs = undefined;
      return reply;
    }
    this.unconfirmed();
    if (await this.isTakenAtItsWord(redis, call.keys[0]!)) return reply;
    // What Redis itself says when it misses its replicas; the catalogue makes it DEPENDENCY_UNAVAILABLE.
    throw new Error('NOREPLICAS no replica has confirmed this in time');
  }

  private async isTakenAtItsWord(redis: RedisConnection, key: string): Promise<boolean> {
    // The key's only use is to send INFO to its node.
    const answers = await redis.pipeline().exists(key).info('replication').exec();
    const info = (answers?.[1]?.[1] ?? '') as string;
    const number = (field: string) => Number(new RegExp(`^${field}:(-?\\d+)`, 'm').exec(info)?.[1] ?? Number.NaN);
    if (number('connected_slaves') > 0) return false;
    if (number('second_repl_offset') > 0) return true;
    this.aloneSinceMs ??= performance.now();
    return performance.now() - this.aloneSinceMs > ALONE_MS;
  }
}
