import { randomUUID } from 'node:crypto';
import type { StoredAnswer } from '../logging/request-context.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { SharedScript } from '../redis/shared-script.ts';

const ANSWER_TTL_SECONDS = 48 * 3600;
/** The contract's: shorter than the longest legal request, so it is renewed. */
const LOCK_TTL_MS = 30_000;
/** Two renewals may fail before the lock is lost. */
const RENEWALS_IN_A_LIFE = 3;

/** Takes the lock, unless somebody has it → 1 or 0 */
const TAKE_LOCK = `function(lock, owner, life_ms)
  return redis.call('SET', lock, owner, 'NX', 'PX', life_ms) and 1 or 0
end`;
/** Renews the lock if it is still ours. */
const RENEW_LOCK = `function(lock, owner, life_ms)
  return redis.call('GET', lock) == owner and redis.call('PEXPIRE', lock, life_ms) or 0
end`;
/** Gives the lock back if it is still ours. */
const RELEASE_LOCK = `function(lock, owner)
  return redis.call('GET', lock) == owner and redis.call('DEL', lock) or 0
end`;

/** Marks a key as running, unless it is finished or belongs to another request → what was known (status, fingerprint, response), or false */
const BEGIN_KEY = `function(key, fingerprint, life_s)
  local known = redis.call('HMGET', key, 'status', 'fingerprint', 'response')
  if known[1] == 'completed' or (known[2] and known[2] ~= fingerprint) then return known end
  redis.call('HSET', key, 'status', 'processing', 'fingerprint', fingerprint)
  redis.call('EXPIRE', key, life_s)
  return false
end`;
/**
 * Stores an answer. A refusal never replaces an answer: whoever lost the lock on the way may be refused what the one who
 * took over was given.
 */
const COMPLETE_KEY = `function(key, fingerprint, response, life_s, is_refusal)
  if is_refusal == '1' and redis.call('HGET', key, 'status') == 'completed' then return 0 end
  redis.call('HSET', key, 'status', 'completed', 'fingerprint', fingerprint, 'response', response)
  return redis.call('EXPIRE', key, life_s)
end`;
/** Forgets a key that is not finished. */
const FORGET_KEY = `function(key)
  return redis.call('HGET', key, 'status') == 'completed' and 0 or redis.call('DEL', key)
end`;

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
  private readonly takeLock: SharedScript<number>;
  private readonly renewLock: SharedScript<number>;
  private readonly releaseLock: SharedScript<number>;
  private readonly beginKey: SharedScript<(string | null)[] | null>;
  private readonly completeKey: SharedScript<number>;
  private readonly forgetKey: SharedScript<number>;
  /** Locks in our hands: of which key, by owner. */
  private readonly held = new Map<string, string>();
  private renewal: NodeJS.Timeout | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly lockMs = LOCK_TTL_MS,
  ) {
    this.takeLock = new SharedScript(redis, TAKE_LOCK);
    this.renewLock = new SharedScript(redis, RENEW_LOCK);
    this.releaseLock = new SharedScript(redis, RELEASE_LOCK);
    this.beginKey = new SharedScript(redis, BEGIN_KEY);
    this.completeKey = new SharedScript(redis, COMPLETE_KEY);
    this.forgetKey = new SharedScript(redis, FORGET_KEY);
  }

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
    const release = async (): Promise<void> => {
      this.held.delete(owner);
      await this.releaseLock.run(lockKey(key), owner);
    };
    try {
      const [taken, begun] = await Promise.all([
        this.takeLock.run(lockKey(key), owner, this.lockMs),
        this.beginKey.run(cacheKey(key), fingerprint, ANSWER_TTL_SECONDS),
      ]);
      const known = begun ? cached(begun[0], begun[1], begun[2]) : undefined;
      if (known && taken === 1) await release();
      if (known) return { known };
      if (taken !== 1) return {};
      this.keep(key, owner);
      return { lock: { release } };
    } catch (error) {
      // One of the two may have succeeded. Nobody waits for a Redis that has just failed.
      void release().catch(() => undefined);
      throw error;
    }
  }

  async complete(key: string, fingerprint: string, answer: StoredAnswer): Promise<void> {
    const refusal = answer.status >= 400 ? 1 : 0;
    await this.completeKey.run(cacheKey(key), fingerprint, JSON.stringify(answer), ANSWER_TTL_SECONDS, refusal);
  }

  /** The request had no effect and no lasting answer: the key may be used again. */
  async forget(key: string): Promise<void> {
    await this.forgetKey.run(cacheKey(key));
  }

  /** One look at all locks, which are short-lived and many, instead of a timer each. */
  private keep(key: string, owner: string): void {
    this.held.set(owner, key);
    this.renewal ??= setInterval(() => {
      for (const [by, of] of this.held) this.renewLock.run(lockKey(of), by, this.lockMs).catch(() => undefined);
    }, this.lockMs / RENEWALS_IN_A_LIFE).unref();
  }
}

type Field = string | null | undefined;

function cached(status: Field, fingerprint: Field, response: Field): CachedAnswer | undefined {
  if (!fingerprint || (status !== 'processing' && status !== 'completed')) return undefined;
  return { state: status, fingerprint, ...(response ? { answer: JSON.parse(response) as StoredAnswer } : {}) };
}
