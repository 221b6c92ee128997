import type { RedisConnection } from '../redis/redis-connection.ts';
import { SharedScript } from '../redis/shared-script.ts';

export const ANSWER_TTL_SECONDS = 48 * 3600;

/** status, fingerprint, response */
export type KnownFields = readonly (string | null)[];
/** 1: ours to work on; 0: somebody is at work; else what is known. */
export type Claimed = 0 | 1 | KnownFields;

export interface Completion {
  readonly fingerprint: string;
  readonly response: string;
  /** Never replaces an answer: whoever lost the lock on the way may be refused what the one who took over was given. */
  readonly isRefusal: boolean;
}

export type Failed = (error: unknown) => void;

/** What Redis does with a key (`idempotency:…`, a hash) and its lock (`idempotency:lock:…`, whose value is its owner). */
export interface KeySteps {
  /** Takes lock and key, unless the key is finished or another request's, or somebody has the lock. */
  claim(key: string, owner: string, fingerprint: string): Promise<Claimed>;
  /** Stores the answer, and gives the lock back if it is still ours. Resolves when that is on its way. */
  complete(key: string, owner: string, completion: Completion, failed: Failed): Promise<unknown>;
  /** Forgets a key that is not finished, and gives the lock back. Resolves when that is on its way. */
  forget(key: string, owner: string, failed: Failed): Promise<unknown>;
  renew(key: string, owner: string): Promise<unknown>;
  release(key: string, owner: string): Promise<unknown>;
}

export const cacheKey = (key: string): string => `idempotency:${key}`;
const lockKey = (key: string): string => `idempotency:lock:${key}`;

export function keySteps(redis: RedisConnection, lockMs: number): KeySteps {
  return redis.isCluster ? new KeyStepsInCluster(redis, lockMs) : new KeyStepsOnServer(redis, lockMs);
}

/** Lines of Lua the functions below are made of; each may use key, lock, owner, fingerprint as its function names them. */
const known = `if redis.call('EXISTS', key) == 1 then
    local known = redis.call('HMGET', key, 'status', 'fingerprint', 'response')
    if known[1] == 'completed' or (known[2] and known[2] ~= fingerprint) then return known end
  end`;
const begin = `redis.call('HSET', key, 'status', 'processing', 'fingerprint', fingerprint)
  redis.call('EXPIRE', key, ${ANSWER_TTL_SECONDS})`;
/** A hash that was lost meanwhile is made anew, and needs a time to live. */
const complete = `if is_refusal ~= '1' or redis.call('HGET', key, 'status') ~= 'completed' then
    local made = redis.call('HSET', key, 'status', 'completed', 'fingerprint', fingerprint, 'response', response)
    if made > 1 then redis.call('EXPIRE', key, ${ANSWER_TTL_SECONDS}) end
  end`;
const forget = `if redis.call('HGET', key, 'status') ~= 'completed' then redis.call('DEL', key) end`;
const take = (lockMs: number): string => `redis.call('SET', lock, owner, 'NX', 'PX', ${lockMs})`;
const release = `if redis.call('GET', lock) == owner then redis.call('DEL', lock) end`;

class LockSteps {
  private readonly renewLock: SharedScript<number>;
  protected readonly releaseLock: SharedScript<number>;

  constructor(redis: RedisConnection, lockMs: number) {
    this.renewLock = new SharedScript(
      redis,
      `function(lock, owner) return redis.call('GET', lock) == owner and redis.call('PEXPIRE', lock, ${lockMs}) or 0 end`,
    );
    this.releaseLock = new SharedScript(redis, `function(lock, owner) ${release} return 1 end`);
  }

  renew(key: string, owner: string): Promise<number> {
    return this.renewLock.run(lockKey(key), owner);
  }

  release(key: string, owner: string): Promise<number> {
    return this.releaseLock.run(lockKey(key), owner);
  }
}

/** Key and lock in one step. */
class KeyStepsOnServer extends LockSteps implements KeySteps {
  private readonly claimBoth: SharedScript<Claimed>;
  private readonly completeBoth: SharedScript<number>;
  private readonly forgetBoth: SharedScript<number>;

  constructor(redis: RedisConnection, lockMs: number) {
    super(redis, lockMs);
    this.claimBoth = new SharedScript(
      redis,
      `function(key, lock, owner, fingerprint)
  ${known}
  if not ${take(lockMs)} then return 0 end
  ${begin}
  return 1
end`,
      2,
    );
    this.completeBoth = new SharedScript(
      redis,
      `function(key, lock, owner, fingerprint, response, is_refusal)
  ${complete}
  ${release}
  return 1
end`,
      2,
    );
    this.forgetBoth = new SharedScript(
      redis,
      `function(key, lock, owner)
  ${forget}
  ${release}
  return 1
end`,
      2,
    );
  }

  claim(key: string, owner: string, fingerprint: string): Promise<Claimed> {
    return this.claimBoth.run(cacheKey(key), lockKey(key), owner, fingerprint);
  }

  complete(key: string, owner: string, { fingerprint, response, isRefusal }: Completion, failed: Failed): Promise<unknown> {
    return this.completeBoth.tell([cacheKey(key), lockKey(key), owner, fingerprint, response, isRefusal ? 1 : 0], failed);
  }

  forget(key: string, owner: string, failed: Failed): Promise<unknown> {
    return this.forgetBoth.tell([cacheKey(key), lockKey(key), owner], failed);
  }
}

/** Key and lock may live on two nodes: asked by two commands on one way, and it is the row that decides should they disagree. */
class KeyStepsInCluster extends LockSteps implements KeySteps {
  private readonly takeLock: SharedScript<number>;
  private readonly beginKey: SharedScript<KnownFields | number>;
  private readonly completeKey: SharedScript<number>;
  private readonly forgetKey: SharedScript<number>;

  constructor(redis: RedisConnection, lockMs: number) {
    super(redis, lockMs);
    this.takeLock = new SharedScript(redis, `function(lock, owner) return ${take(lockMs)} and 1 or 0 end`);
    this.beginKey = new SharedScript(
      redis,
      `function(key, fingerprint)
  ${known}
  ${begin}
  return 0
end`,
    );
    this.completeKey = new SharedScript(
      redis,
      `function(key, fingerprint, response, is_refusal)
  ${complete}
  return 1
end`,
    );
    this.forgetKey = new SharedScript(redis, `function(key) ${forget} return 1 end`);
  }

  async claim(key: string, owner: string, fingerprint: string): Promise<Claimed> {
    const [taken, begun] = await Promise.all([
      this.takeLock.run(lockKey(key), owner),
      this.beginKey.run(cacheKey(key), fingerprint),
    ]);
    if (typeof begun === 'number') return taken === 1 ? 1 : 0;
    if (taken === 1) await this.release(key, owner);
    return begun;
  }

  complete(key: string, owner: string, { fingerprint, response, isRefusal }: Completion, failed: Failed): Promise<unknown> {
    const told = this.completeKey.tell([cacheKey(key), fingerprint, response, isRefusal ? 1 : 0], failed);
    return Promise.all([told, this.releaseLock.tell([lockKey(key), owner], failed)]);
  }

  forget(key: string, owner: string, failed: Failed): Promise<unknown> {
    return Promise.all([this.forgetKey.tell([cacheKey(key)], failed), this.releaseLock.tell([lockKey(key), owner], failed)]);
  }
}
