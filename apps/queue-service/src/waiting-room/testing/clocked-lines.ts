import type { Redis } from 'ioredis';
import { TOKEN_SECRETS } from './line-fixture.ts';
import { RedisWaitingLines } from '../outbound/redis-waiting-lines.ts';

const CLOCK_KEY = 'test:clock_us';

/** Lua code that ClockedLines puts in front of every script. It makes the command TIME return the test's clock. */
const TEST_CLOCK_LUA = `
local real_redis = redis
local redis = {
  call = function(command, ...)
    if command ~= 'TIME' then return real_redis.call(command, ...) end
    local us = real_redis.call('GET', '${CLOCK_KEY}')
    return { string.sub(us, 1, -7), string.sub(us, -6) }
  end,
}
`;

/** Pods that run the production scripts on a real Redis with a clock that the test moves, forward or back. */
export class ClockedLines {
  nowMs = Date.now();

  constructor(private readonly redis: Redis) {}

  /** A new pod. It sends the full text of each script with EVAL, with TEST_CLOCK_LUA in front. */
  pod(settings: { purchaseWindowMs: number; persistenceSeconds: number; presenceMs: number }): RedisWaitingLines {
    const { redis } = this;
    const clocked = new Proxy(redis, {
      get(target, name) {
        if (name === 'evalsha')
          return () => Promise.reject(new Error('NOSCRIPT evalsha would run the script without the test clock'));
        if (name === 'eval')
          return (source: string, ...rest: unknown[]) => target.call('EVAL', TEST_CLOCK_LUA + source, ...(rest as string[]));
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
      },
    });
    return new RedisWaitingLines(clocked, { ...settings, tokenSecrets: TOKEN_SECRETS });
  }

  async advance(ms: number): Promise<void> {
    this.nowMs += ms;
    await this.redis.set(CLOCK_KEY, `${this.nowMs}000`);
  }
}
