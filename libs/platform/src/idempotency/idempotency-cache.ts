import { randomUUID } from 'node:crypto';
import type { StoredAnswer } from '../logging/request-context.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { RedisScript } from '../redis/script.ts';

const ANSWER_TTL_SECONDS = 48 * 3600;
/** The contract's: shorter than the longest legal request, so it is renewed. */
const LOCK_TTL_MS = 30_000;
/** Two renewals may fail before the lock is lost. */
const RENEWALS_IN_A_LIFE = 3;

/** Renews the lock if it is still ours. KEYS[1] lock · ARGV[1] owner, ARGV[2] life in ms. */
const renewLock = new RedisScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`,
);
/** Gives the lock back if it is still ours. KEYS[1] lock · ARGV[1] owner. */
const releaseLock = new RedisScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
);

/**
 * Marks a key as running, unless it is finished or belongs to another request.
 * KEYS[1] key · ARGV[1] fingerprint, ARGV[2] life in s → what was known (status, fingerprint, response), or false
 */
const beginKey = new RedisScript(`
local known = redis.call('HMGET', KEYS[1], 'status', 'fingerprint', 'response')
if known[1] == 'completed' or (known[2] and known[2] ~= ARGV[1]) then return known end
redis.call('HSET', KEYS[1], 'status', 'processing', 'fingerprint', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return false
`);

/**
 * Stores an answer. A refusal never replaces an answer: whoever lost the lock on the way may be refused what the one who
 * took over was given. KEYS[1] key · ARGV[1] fingerprint, ARGV[2] response, ARGV[3] life in s, ARGV[4] 1 for a refusal
 */
const completeKey = new RedisScript(`
if ARGV[4] == '1' and redis.call('HGET', KEYS[1], 'status') == 'completed' then return 0 end
redis.call('HSET', KEYS[1], 'status', 'completed', 'fingerprint', ARGV[1], 'response', ARGV[2])
return redis.call('EXPIRE', KEYS[1], ARGV[3])
`);

/** Forgets a key that is not finished. KEYS[1] key. */
const forgetKey = new RedisScript(
  `if redis.call('HGET', KEYS[1], 'status') == 'completed' then return 0 end return redis.call('DEL', KEYS[1])`,
);

export interface CachedAnswer {
  readonly state: 'processing' | 'completed';
  readonly fingerprint: string;
  readonly answer?: StoredAnswer;
}

export interface KeyLock {
  release(): Promise<void>;
}

/** `lock` when the key is ours to work on; `known` when it is another request's, or finished; neither: somebody is at work. */
export interface KeyClaim {
  readonly lock?: KeyLock;
  readonly known?: CachedAnswer;
}

const cacheKey = (key: string): string => `idempotency:${key}`;
const lockKey = (key: string): string => `idempotency:lock:${key}`;

/**
 * The quick side of idempotency (CONTRACT §4): tells a running key from a finished one and replays without touching
 * PostgreSQL. It may lose anything at any time; the row that was committed with the effect is the fence.
 */
export class IdempotencyCache {
  constructor(
    private readonly redis: RedisConnection,
    private readonly lockMs = LOCK_TTL_MS,
  ) {}

  async read(key: string): Promise<CachedAnswer | undefined> {
    const [status, fingerprint, response] = await this.redis.hmget(cacheKey(key), 'status', 'fingerprint', 'response');
    return cached(status, fingerprint, response);
  }

  /**
   * Takes the key, to be kept while the work lasts, unless it is known or somebody is at work. Lock and key may live on two
   * nodes of a cluster, so they are asked by two commands, but on one way: it is the row that decides should they disagree.
   */
  async claim(key: string, fingerprint: string): Promise<KeyClaim> {
    const owner = randomUUID();
    const [taken, begun] = await Promise.allSettled([
      this.redis.set(lockKey(key), owner, 'PX', this.lockMs, 'NX'),
      beginKey.run<(string | null)[] | null>(this.redis, [cacheKey(key)], [fingerprint, ANSWER_TTL_SECONDS]),
    ]);
    const lock = taken.status === 'fulfilled' && taken.value === 'OK' ? this.keep(key, owner) : undefined;
    if (taken.status === 'fulfilled' && begun.status === 'fulfilled') {
      const known = begun.value ? cached(begun.value[0], begun.value[1], begun.value[2]) : undefined;
      if (!known) return lock ? { lock } : {};
      await lock?.release();
      return { known };
    }
    await lock?.release().catch(() => undefined);
    throw taken.status === 'rejected' ? taken.reason : (begun as PromiseRejectedResult).reason;
  }

  async complete(key: string, fingerprint: string, answer: StoredAnswer): Promise<void> {
    const refusal = answer.status >= 400 ? 1 : 0;
    await completeKey.run(this.redis, [cacheKey(key)], [fingerprint, JSON.stringify(answer), ANSWER_TTL_SECONDS, refusal]);
  }

  /** The request had no effect and no lasting answer: the key may be used again. */
  async forget(key: string): Promise<void> {
    await forgetKey.run(this.redis, [cacheKey(key)], []);
  }

  private keep(key: string, owner: string): KeyLock {
    const renewal = setInterval(() => {
      renewLock.run(this.redis, [lockKey(key)], [owner, this.lockMs]).catch(() => undefined);
    }, this.lockMs / RENEWALS_IN_A_LIFE);
    renewal.unref();
    return {
      release: async () => {
        clearInterval(renewal);
        await releaseLock.run(this.redis, [lockKey(key)], [owner]);
      },
    };
  }
}

type Field = string | null | undefined;

function cached(status: Field, fingerprint: Field, response: Field): CachedAnswer | undefined {
  if (!fingerprint || (status !== 'processing' && status !== 'completed')) return undefined;
  return { state: status, fingerprint, ...(response ? { answer: JSON.parse(response) as StoredAnswer } : {}) };
}
