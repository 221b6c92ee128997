import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { RedisScript } from '../redis/script.ts';
import type { StoredAnswer } from '../logging/request-context.ts';

const ANSWER_TTL_SECONDS = 48 * 3600;
const LOCK_TTL_MS = 30_000;
/** A third of the lock's life: two renewals may fail before it is lost. */
const RENEW_EVERY_MS = 10_000;

/** Renews the lock if it is still ours. KEYS[1] lock · ARGV[1] owner, ARGV[2] life in ms. */
const renewLock = new RedisScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`);
/** Gives the lock back if it is still ours. KEYS[1] lock · ARGV[1] owner. */
const releaseLock = new RedisScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`);

export interface CachedAnswer {
  readonly state: 'processing' | 'completed';
  readonly fingerprint: string;
  readonly answer?: StoredAnswer;
}

export interface KeyLock {
  release(): Promise<void>;
}

const cacheKey = (key: string): string => `idempotency:${key}`;
const lockKey = (key: string): string => `idempotency:lock:${key}`;

/**
 * The quick side of idempotency (CONTRACT §4): tells a running key from a finished one and replays without touching
 * PostgreSQL. It may lose anything at any time; the row that was committed with the effect is the fence.
 */
export class IdempotencyCache {
  constructor(private readonly redis: RedisConnection) {}

  async read(key: string): Promise<CachedAnswer | undefined> {
    const fields = await this.redis.hgetall(cacheKey(key));
    const { status, fingerprint, response } = fields;
    if (!fingerprint || (status !== 'processing' && status !== 'completed')) return undefined;
    return { state: status, fingerprint, ...(response ? { answer: JSON.parse(response) as StoredAnswer } : {}) };
  }

  /** The lock, renewed while the work lasts; undefined when somebody else holds it. */
  async lock(key: string, fingerprint: string): Promise<KeyLock | undefined> {
    const owner = randomUUID();
    const taken = await this.redis.set(lockKey(key), owner, 'PX', LOCK_TTL_MS, 'NX');
    if (taken !== 'OK') return undefined;
    await this.redis
      .multi()
      .hset(cacheKey(key), { status: 'processing', fingerprint })
      .expire(cacheKey(key), ANSWER_TTL_SECONDS)
      .exec();
    const renewal = setInterval(() => {
      renewLock.run(this.redis, [lockKey(key)], [owner, LOCK_TTL_MS]).catch(() => undefined);
    }, RENEW_EVERY_MS);
    renewal.unref();
    return {
      release: async () => {
        clearInterval(renewal);
        await releaseLock.run(this.redis, [lockKey(key)], [owner]);
      },
    };
  }

  async complete(key: string, fingerprint: string, answer: StoredAnswer): Promise<void> {
    await this.redis
      .multi()
      .hset(cacheKey(key), { status: 'completed', fingerprint, response: JSON.stringify(answer) })
      .expire(cacheKey(key), ANSWER_TTL_SECONDS)
      .exec();
  }

  /** The request had no effect and no lasting answer: the key may be used again. */
  async forget(key: string): Promise<void> {
    await this.redis.del(cacheKey(key));
  }
}
