import type { RedisConnection } from '#platform/redis/redis-connection';
import type { RedisScript } from '#platform/redis/script';

const CONFIRM_TIMEOUT_MS = 100;
/** How long calls fail after a server has lost its replicas: it may be an old master that is cut off during a failover. */
const ALONE_GRACE_MS = 10_000;

interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/**
 * Acknowledges a script call only after `replicas` replicas have confirmed it, so a failover cannot lose an acknowledged join. An
 * unconfirmed call is answered with 503 and is safe to repeat: a join finds the existing queue entry. A server that a failover has
 * promoted has no replica yet. Its calls succeed without confirmation, because refusing all joins until a replica is back would
 * prolong the outage.
 */
export class ReplicaConfirmation {
  private aloneSinceMs: number | undefined;

  constructor(
    private readonly replicas: number,
    private readonly onUnconfirmed: () => void = () => undefined,
  ) {}

  async run<T>(redis: RedisConnection, script: RedisScript, call: ScriptCall): Promise<T> {
    const wait = { replicas: this.replicas, timeoutMs: CONFIRM_TIMEOUT_MS };
    const { reply, confirmedBy } = await script.runAndWait<T>(redis, call, wait);
    if (confirmedBy >= this.replicas) {
      this.aloneSinceMs = undefined;
      return reply;
    }
    this.onUnconfirmed();
    if (await this.isTrustedWithoutReplica(redis, call.keys[0]!)) return reply;
    // The error code that Redis itself uses for missing replicas. The error catalogue maps it to DEPENDENCY_UNAVAILABLE.
    throw new Error('NOREPLICAS no replica has confirmed this in time');
  }

  private async isTrustedWithoutReplica(redis: RedisConnection, key: string): Promise<boolean> {
    // EXISTS only makes ioredis send the pipeline, and with it INFO, to the node of this key.
    const answers = await redis.pipeline().exists(key).info('replication').exec();
    const info = (answers?.[1]?.[1] ?? '') as string;
    const number = (field: string) => Number(new RegExp(`^${field}:(-?\\d+)`, 'm').exec(info)?.[1] ?? Number.NaN);
    if (number('connected_slaves') > 0) return false;
    if (number('second_repl_offset') > 0) return true;
    this.aloneSinceMs ??= performance.now();
    return performance.now() - this.aloneSinceMs > ALONE_GRACE_MS;
  }
}
