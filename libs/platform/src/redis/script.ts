import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { RedisConnection } from './redis-connection.ts';

/** The script was not run: the slot has another node now. */
const redirected = /^(MOVED|ASK) /;
const MOST_REDIRECTIONS = 2;

/**
 * A Lua script: one atomic change. Sent in full at first, then by its digest; a server that does not know it (restarted, failed
 * over, another node) is sent the text again.
 */
export class RedisScript {
  private readonly source: string;
  private readonly digest: string;
  private wasSent = false;

  constructor(source: string) {
    this.source = source;
    this.digest = createHash('sha1').update(source).digest('hex');
  }

  static fromFile(file: string): RedisScript {
    return new RedisScript(fs.readFileSync(file, 'utf8'));
  }

  async run<T = unknown>(redis: RedisConnection, keys: readonly string[], args: readonly (string | number)[]): Promise<T> {
    if (!this.wasSent) {
      this.wasSent = true;
      return (await redis.eval(this.source, keys.length, ...keys, ...args)) as T;
    }
    try {
      return (await redis.evalsha(this.digest, keys.length, ...keys, ...args)) as T;
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return (await redis.eval(this.source, keys.length, ...keys, ...args)) as T;
    }
  }

  /**
   * The same, and how many replicas have it within `timeoutMs`. WAIT speaks of the connection it is sent on, so both go out as
   * one pipeline, which a cluster sends to the node of the keys.
   */
  async runAndWait<T = unknown>(
    redis: RedisConnection,
    call: { keys: readonly string[]; args: readonly (string | number)[] },
    wait: { replicas: number; timeoutMs: number },
  ): Promise<{ reply: T; confirmedBy: number }> {
    const { keys, args } = call;
    const send = (inFull: boolean) => {
      const pipeline = redis.pipeline();
      if (inFull) pipeline.eval(this.source, keys.length, ...keys, ...args);
      else pipeline.evalsha(this.digest, keys.length, ...keys, ...args);
      return pipeline.wait(wait.replicas, wait.timeoutMs).exec();
    };
    let answers = await send(false);
    for (let tries = 0; tries < MOST_REDIRECTIONS && redirected.test(answers?.[0]?.[0]?.message ?? ''); tries += 1) {
      // A pipeline does not follow: its WAIT has succeeded on the wrong node. A single command does, and learns the way.
      await redis.exists(keys[0]!);
      answers = await send(false);
    }
    if (answers?.[0]?.[0]?.message.startsWith('NOSCRIPT')) answers = await send(true);
    const [[failed, reply], [unconfirmed, confirmedBy]] = answers as [[Error | null, T], [Error | null, number]];
    if (failed) throw failed;
    return { reply, confirmedBy: unconfirmed ? 0 : confirmedBy };
  }
}
