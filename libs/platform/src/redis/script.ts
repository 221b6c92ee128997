import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { RedisConnection } from './redis-connection.ts';

/** Matches the error of a cluster node when the slot of the key belongs to another node now. The script was not run. */
const redirected = /^(MOVED|ASK) /;
const MAX_REDIRECTIONS = 2;

/**
 * A Lua script, which Redis runs atomically. The first call sends the source, later calls only its digest. If the server does not
 * know the digest (after a restart, a failover, or on another node), the source is sent again.
 */
export class RedisScript {
  private readonly digest: string;
  private wasSent = false;

  constructor(private readonly source: string) {
    this.digest = createHash('sha1').update(source).digest('hex');
  }

  static fromFile(file: string): RedisScript {
    return new RedisScript(fs.readFileSync(file, 'utf8'));
  }

  async run<T = unknown>(redis: RedisConnection, keys: readonly string[], args: readonly (string | number)[]): Promise<T> {
    try {
      if (this.wasSent) return (await redis.evalsha(this.digest, keys.length, ...keys, ...args)) as T;
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    }
    this.wasSent = true;
    return (await redis.eval(this.source, keys.length, ...keys, ...args)) as T;
  }

  /**
   * Runs the script and waits up to `timeoutMs` until `replicas` replicas confirm its writes. Returns how many replicas confirmed
   * them. WAIT counts the writes of its own connection, so script and WAIT are one pipeline, which a cluster client sends to the
   * node of the keys.
   */
  async runAndWait<T = unknown>(
    redis: RedisConnection,
    call: { keys: readonly string[]; args: readonly (string | number)[] },
    wait: { replicas: number; timeoutMs: number },
  ): Promise<{ reply: T; confirmedBy: number }> {
    const { keys, args } = call;
    const send = (withSource: boolean) => {
      const pipeline = redis.pipeline();
      if (withSource) pipeline.eval(this.source, keys.length, ...keys, ...args);
      else pipeline.evalsha(this.digest, keys.length, ...keys, ...args);
      return pipeline.wait(wait.replicas, wait.timeoutMs).exec();
    };
    let answers = await send(false);
    for (let tries = 0; tries < MAX_REDIRECTIONS && redirected.test(answers?.[0]?.[0]?.message ?? ''); tries += 1) {
      // ioredis does not redirect a pipeline whose WAIT has succeeded on the wrong node. A single command is redirected, and
      // after it the client knows the right node.
      await redis.exists(keys[0]!);
      answers = await send(false);
    }
    if (answers?.[0]?.[0]?.message.startsWith('NOSCRIPT')) answers = await send(true);
    const [[failed, reply], [unconfirmed, confirmedBy]] = answers as [[Error | null, T], [Error | null, number]];
    if (failed) throw failed;
    return { reply, confirmedBy: unconfirmed ? 0 : confirmedBy };
  }
}
