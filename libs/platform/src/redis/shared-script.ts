import type { RedisConnection } from './redis-connection.ts';
import { RedisScript } from './script.ts';

/** A hundred small steps keep Redis to themselves for less than half a millisecond. */
const MOST_AT_ONCE = 100;

interface Asked<Reply> {
  /** Its keys, and then its arguments. */
  readonly words: readonly (string | number)[];
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
  /** Heard when it is on its way. */
  readonly sent?: () => void;
}

/**
 * One atomic step on a key (or on several, which a cluster has on one node), given as a Lua function of the keys and its arguments, which returns no nil. All who ask for it in one turn
 * of the event loop share one call: that costs this process a fifth of a command each, and nobody waits for company. The
 * keys of a cluster live on many nodes: there everybody has a call of their own. What fails fails for all who shared it.
 */
export class SharedScript<Reply> {
  private readonly script: RedisScript;
  private asked: Asked<Reply>[] = [];

  constructor(
    private readonly redis: RedisConnection,
    step: string,
    private readonly width = 1,
  ) {
    const keys = Array.from({ length: width }, (_, key) => `KEYS[at * ${width} - ${width - 1 - key}]`);
    this.script = new RedisScript(`local step = ${step}
local count, replies = #KEYS / ${width}, {}
local args = #ARGV / count
for at = 1, count do replies[at] = step(${keys.join(', ')}, unpack(ARGV, (at - 1) * args + 1, at * args)) end
return replies`);
  }

  run(...words: readonly (string | number)[]): Promise<Reply> {
    return new Promise((resolve, reject) => this.ask({ words, resolve, reject }));
  }

  /** For who does not wait for the reply: resolves when the step is on its way; `failed` hears it when that was in vain. */
  tell(words: readonly (string | number)[], failed: (error: unknown) => void): Promise<void> {
    return new Promise((sent) => this.ask({ words, resolve: () => undefined, reject: failed, sent }));
  }

  private ask(asked: Asked<Reply>): void {
    if (this.redis.isCluster) void this.send([asked]);
    else if (this.asked.push(asked) === 1) setImmediate(() => this.sendAll());
  }

  private sendAll(): void {
    const { asked } = this;
    this.asked = [];
    for (let from = 0; from < asked.length; from += MOST_AT_ONCE) void this.send(asked.slice(from, from + MOST_AT_ONCE));
  }

  private async send(batch: readonly Asked<Reply>[]): Promise<void> {
    try {
      const [keys, args]: [string[], (string | number)[]] = [[], []];
      for (const { words } of batch) {
        for (let at = 0; at < words.length; at += 1) {
          if (at < this.width) keys.push(words[at] as string);
          else args.push(words[at]!);
        }
      }
      const answered = this.script.run<Reply[]>(this.redis, keys, args);
      for (const { sent } of batch) sent?.();
      const replies = await answered;
      for (let at = 0; at < batch.length; at += 1) batch[at]!.resolve(replies[at]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
