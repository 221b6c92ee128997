import type { Redis } from 'ioredis';
import { RedisWaitingLines } from '../outbound/redis-waiting-lines.ts';

const CLOCK = 'test:clock_us';

/** Stands in front of every script: what it takes for Redis' clock is ours. */
const OUR_TIME = `
local real_redis = redis
local redis = {
  call = function(command, ...)
    if command ~= 'TIME' then return real_redis.call(command, ...) end
    local us = real_redis.call('GET', '${CLOCK}')
    return { string.sub(us, 1, -7), string.sub(us, -6) }
  end,
}
`;

/** Lines of the real scripts on a real Redis whose clock the test turns: hours in a second, and back where it likes. */
export class ClockedLines {
  nowMs = Date.now();

  constructor(private readonly redis: Redis) {}

  /** A further pod. The scripts are those of production, sent in full each time with our clock in front. */
  pod(settings: { purchaseWindowMs: number; persistenceSeconds: number; presenceMs: number }): RedisWaitingLines {
    const { redis } = this;
    const clocked = new Proxy(redis, {
      get(target, name) {
        if (name === 'evalsha') return () => Promise.reject(new Error('NOSCRIPT the clock is not in it'));
        if (name === 'eval')
          return (source: string, ...rest: unknown[]) => target.call('EVAL', OUR_TIME + source, ...(rest as string[]));
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
      },
    });
    return new RedisWaitingLines(clocked, settings);
  }

  async turn(ms: number): Promise<void> {
    this.nowMs += ms;
    await this.redis.set(CLOCK, `${this.nowMs}000`);
  }
}
