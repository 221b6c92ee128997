import type { RedisConnection } from './redis-connection.ts';
import { RedisScript } from './script.ts';

/** A hundred small steps keep Redis to themselves for less than half a millisecond. */
const MOST_AT_ONCE = 100;

interface Asked<Reply> {
  readonly key: string;
  readonly args: readonly (string | number)[];
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One atomic step on one key, given as a Lua function of the key and its arguments, which returns no nil. All who ask for it in one turn
 * of the event loop share one call: that costs this process a fifth of a command each, and nobody waits for company. The
 * keys of a cluster live on many nodes: there everybody has a call of their own. What fails fails for all who shared it.
 */
export class SharedScript<Reply> {
  private readonly script: RedisScript;
  private asked: Asked<Reply>[] = [];

  constructor(
    private readonly redis: RedisConnection,
    step: string,
  ) {
    this.script = new RedisScript(`local step = ${step}
local width, replies = #ARGV / #KEYS, {}
for at, key in ipairs(KEYS) do replies[at] = step(key, unpack(ARGV, (at - 1) * width + 1, at * width)) end
return replies`);
  }

  run(key: string, ...args: readonly (string | number)[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const asked = { key, args, resolve, reject };
      if (this.redis.isCluster) void this.send([asked]);
      else if (this.asked.push(asked) === 1) setImmediate(() => this.sendAll());
    });
  }

  private sendAll(): void {
    const { asked } = this;
    this.asked = [];
    for (let from = 0; from < asked.length; from += MOST_AT_ONCE) void this.send(asked.slice(from, from + MOST_AT_ONCE));
  }

  private async send(batch: readonly Asked<Reply>[]): Promise<void> {
    try {
      const keys = batch.map(({ key }) => key);
      const replies = await this.script.run<Reply[]>(
        this.redis,
        keys,
        batch.flatMap(({ args }) => args),
      );
      batch.forEach(({ resolve }, at) => resolve(replies[at]!));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
