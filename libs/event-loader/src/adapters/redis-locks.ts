import { RedisScript } from '#platform/redis/script';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { randomUUID } from 'node:crypto';
import type { Source } from '../core/event.ts';
import { Lock, LockFactory } from '../core/ports.ts';

/**
 * The lifetime of a lock: three times the longest fetch (10 s). A living holder renews its lock before the end, a frozen holder
 * loses it.
 */
const LIFETIME_MS = 30_000;

/**
 * Takes the lock if it is free, and gives it a lock number (fencing token): Redis' own time in µs, or the last number plus one if
 * that is greater. So even after Redis has lost all data, new numbers are greater than old ones.
 * KEYS[1] lock, KEYS[2] last number; ARGV[1] owner, ARGV[2] lifetime in ms. Returns the number, or nil if the lock is taken.
 */
const ACQUIRE = new RedisScript(`
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
local time = redis.call('TIME')
local number = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[2]) or '0') + 1)
local text = string.format('%.0f', number)
redis.call('SET', KEYS[2], text)
return text`);

/** Deletes the lock only if the owner still holds it. KEYS[1] lock; ARGV[1] owner. */
const RELEASE = new RedisScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`);

/**
 * Extends the lifetime of the lock. KEYS[1] lock; ARGV[1] owner, ARGV[2] lifetime in ms. Returns 0 if the owner no longer holds
 * it.
 */
const RENEW = new RedisScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`,
);

/** Locks of sources as Redis keys with a lifetime, which their holders renew. */
export class RedisLocks extends LockFactory {
  constructor(
    private readonly redis: RedisConnection,
    private readonly lifetimeMs = LIFETIME_MS,
  ) {
    super();
  }

  async tryAcquire({ name }: Source): Promise<Lock | undefined> {
    const owner = randomUUID();
    const keys = [`loader:lock:{${name}}`, `loader:fence:{${name}}`] as const;
    const askedAt = performance.now();
    const lockNumber = await ACQUIRE.run<string | null>(this.redis, keys, [owner, this.lifetimeMs]);
    if (lockNumber === null) return undefined;
    const run = async (script: RedisScript): Promise<boolean> =>
      (await script.run<number>(this.redis, [keys[0]], [owner, this.lifetimeMs])) === 1;
    return new RedisLock(Number(lockNumber), askedAt, this.lifetimeMs, run);
  }
}

class RedisLock extends Lock {
  /**
   * When the lock ends by this process's clock. Counted from before the request to Redis, so it is never later than the end of
   * the key in Redis.
   */
  private heldUntil: number;
  private readonly renewal: NodeJS.Timeout;

  constructor(
    readonly lockNumber: number,
    askedAt: number,
    private readonly lifetimeMs: number,
    /** Runs RENEW or RELEASE for this lock. False if the owner no longer holds it. */
    private readonly run: (script: RedisScript) => Promise<boolean>,
  ) {
    super();
    this.heldUntil = askedAt + lifetimeMs;
    this.renewal = setInterval(() => void this.renew(), lifetimeMs / 3);
    this.renewal.unref();
  }

  get isHeld(): boolean {
    return performance.now() < this.heldUntil;
  }

  async release(): Promise<void> {
    clearInterval(this.renewal);
    this.heldUntil = 0;
    await this.run(RELEASE);
  }

  private async renew(): Promise<void> {
    if (!this.isHeld) return;
    const askedAt = performance.now();
    const isRenewed = await this.run(RENEW).catch(() => undefined);
    // If Redis did not answer, the lock may or may not be renewed: `heldUntil` stays as it is.
    if (isRenewed === undefined || this.heldUntil === 0) return;
    this.heldUntil = isRenewed ? askedAt + this.lifetimeMs : 0;
  }
}
