import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { RedisConnection } from './redis-connection.ts';

/**
 * A Lua script: one atomic change. Sent by its digest; a server that does not know it (restarted, failed over) is sent
 * the text once.
 */
export class RedisScript {
  private readonly source: string;
  private readonly digest: string;

  constructor(source: string) {
    this.source = source;
    this.digest = createHash('sha1').update(source).digest('hex');
  }

  static fromFile(file: string): RedisScript {
    return new RedisScript(fs.readFileSync(file, 'utf8'));
  }

  async run<T = unknown>(redis: RedisConnection, keys: readonly string[], args: readonly (string | number)[]): Promise<T> {
    try {
      return (await redis.evalsha(this.digest, keys.length, ...keys, ...args)) as T;
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return (await redis.eval(this.source, keys.length, ...keys, ...args)) as T;
    }
  }
}
