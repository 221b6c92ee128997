import { RedisScript } from '#platform/redis/script';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { randomUUID } from 'node:crypto';
import type { Source } from '../core/event.ts';
import { Lock, LockFactory } from '../core/ports.ts';

/** Three times a fetch may take (10 s): a holder that lives renews it, one that froze loses it. */
const LIFE_MS = 30_000;

/**
 * Takes the lock if nobody has it, and numbers it: Redis' own time in µs, made strictly increasing, so that a Redis that lost
 * everything still gives greater numbers than before.
 * KEYS[1] lock, KEYS[2] last number; ARGV[1] owner, ARGV[2] life in ms. Returns the number, or nothing.
 */
const ACQUIRE = new RedisScript(`
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
local time = redis.call('TIME')
local fence = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[2]) or '0') + 1)
local text = string.format('%.0f', fence)
redis.call('SET', KEYS[2], text)
return text`);

/** Nobody lets go of another's lock. KEYS[1] lock; ARGV[1] owner. */
const RELEASE = new RedisScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`);

/** KEYS[1] lock; ARGV[1] owner, ARGV[2] life in ms. Returns 0 when it is another's. */
const RENEW = new RedisScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`,
);

export class RedisLocks extends LockFactory {
  constructor(
    private readonly redis: RedisConnection,
    private readonly lifeMs = LIFE_MS,
  ) {
    super();
  }

  async tryAcquire({ name }: Source): Promise<Lock | undefined> {
    const owner = randomUUID();
    const keys = [`loader:lock:{${name}}`, `loader:fence:{${name}}`] as const;
    const askedAt = performance.now();
    const fence = await ACQUIRE.run<string | null>(this.redis, keys, [owner, this.lifeMs]);
    return fence === null
      ? undefined
      : new RedisLock(this.redis, keys[0], owner, Number(fence), { askedAt, lifeMs: this.lifeMs });
  }
}

class RedisLock extends Lock {
  /** By our own clock, counted from before we asked: never later than Redis lets it go. */
  private heldUntil: number;
  private readonly renewal: NodeJS.Timeout;

  constructor(
    private readonly redis: RedisConnection,
    private readonly key: string,
    private readonly owner: string,
    readonly fence: number,
    private readonly life: { askedAt: number; lifeMs: number },
  ) {
    super();
    this.heldUntil = life.askedAt + life.lifeMs;
    this.renewal = setInterval(() => void this.renew(), life.lifeMs / 3);
    this.renewal.unref();
  }

  get isHeld(): boolean {
    return performance.now() < this.heldUntil;
  }

  async release(): Promise<void> {
    clearInterval(this.renewal);
    this.heldUntil = 0;
    await RELEASE.run(this.redis, [this.key], [this.owner]);
  }

  private async renew(): Promise<void> {
    if (!this.isHeld) return;
    const askedAt = performance.now();
    const renewed = await RENEW.run<number>(this.redis, [this.key], [this.owner, this.life.lifeMs]).catch(() => undefined);
    // Unheard: it may be ours, and it ends when it ends.
    if (renewed === undefined || this.heldUntil === 0) return;
    this.heldUntil = renewed === 1 ? askedAt + this.life.lifeMs : 0;
  }
}
