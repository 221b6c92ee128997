import type { RedisConnection } from '../redis/redis-connection.ts';
import { BatchedScript } from '../redis/batched-script.ts';

/** How long Redis keeps an idempotency key and its answer (CONTRACT §4). */
export const ANSWER_TTL_SECONDS = 48 * 3600;

/** The fields status, fingerprint and response of the Redis hash of an idempotency key. */
export type CachedFields = readonly (string | null)[];
/**
 * Reply to the claim of an idempotency key. 1: the caller has the lock of the key and may run; 0: another request holds that lock;
 * otherwise the stored fields of the key, because it is finished or belongs to a request with another fingerprint.
 */
export type ClaimReply = 0 | 1 | CachedFields;

/** What `complete` stores: the answer to a request. */
export interface Completion {
  readonly fingerprint: string;
  readonly response: string;
  /**
   * True for a refusal, which never replaces a stored answer. A request that lost its lock may be refused although the next owner
   * of the lock succeeded.
   */
  readonly isRefusal: boolean;
}

/** Called when Redis fails after the function has resolved. */
export type OnError = (error: unknown) => void;

/**
 * The Redis scripts for an idempotency key (hash `idempotency:{key}`) and its lock (`idempotency:lock:{key}`, whose value is the
 * owner).
 */
export interface KeyScripts {
  /**
   * Takes the lock and marks the key as processing, unless the key is finished, has another fingerprint, or is locked by another
   * owner.
   */
  claim(key: string, owner: string, fingerprint: string): Promise<ClaimReply>;
  /** Stores the answer and releases the lock if `owner` still has it. Resolves when the command was sent, not when Redis replied. */
  complete(key: string, owner: string, completion: Completion, onError: OnError): Promise<unknown>;
  /** Deletes a key that is not finished and releases the lock. Resolves when the command was sent, not when Redis replied. */
  forget(key: string, owner: string, onError: OnError): Promise<unknown>;
  renew(key: string, owner: string): Promise<unknown>;
  release(key: string, owner: string): Promise<unknown>;
}

/** The Redis key of an idempotency key. */
const cacheKey = (key: string): string => `idempotency:${key}`;
const lockKey = (key: string): string => `idempotency:lock:${key}`;

/** Parts of the Lua functions below. They use the parameters of those functions: key, lock, owner, fingerprint, response. */
const known = `if redis.call('EXISTS', key) == 1 then
    local known = redis.call('HMGET', key, 'status', 'fingerprint', 'response')
    if known[1] == 'completed' or (known[2] and known[2] ~= fingerprint) then return known end
  end`;
const begin = `redis.call('HSET', key, 'status', 'processing', 'fingerprint', fingerprint)
  redis.call('EXPIRE', key, ${ANSWER_TTL_SECONDS})`;
/**
 * Stores the answer, unless it is a refusal and the key has an answer already. If Redis has lost the hash of the key, it is
 * created again with an expiry.
 */
const complete = `if is_refusal ~= '1' or redis.call('HGET', key, 'status') ~= 'completed' then
    local made = redis.call('HSET', key, 'status', 'completed', 'fingerprint', fingerprint, 'response', response)
    if made > 1 then redis.call('EXPIRE', key, ${ANSWER_TTL_SECONDS}) end
  end`;
const forget = `if redis.call('HGET', key, 'status') ~= 'completed' then redis.call('DEL', key) end`;
const take = (lockMs: number): string => `redis.call('SET', lock, owner, 'NX', 'PX', ${lockMs})`;
const release = `if redis.call('GET', lock) == owner then redis.call('DEL', lock) end`;

/** Returns the scripts that fit the connection: for a single server or for a cluster. */
export function keyScripts(redis: RedisConnection, lockMs: number): KeyScripts {
  const renewLock = new BatchedScript<number>(
    redis,
    `function(lock, owner) return redis.call('GET', lock) == owner and redis.call('PEXPIRE', lock, ${lockMs}) or 0 end`,
  );
  const releaseLock = new BatchedScript<number>(redis, `function(lock, owner) ${release} return 1 end`);
  return {
    ...(redis.isCluster ? clusterScripts(redis, lockMs, releaseLock) : singleServerScripts(redis, lockMs)),
    renew: (key, owner) => renewLock.run(lockKey(key), owner),
    release: (key, owner) => releaseLock.run(lockKey(key), owner),
  };
}

type ChangesOfKey = Pick<KeyScripts, 'claim' | 'complete' | 'forget'>;

/** For a single server: one script changes key and lock together. */
function singleServerScripts(redis: RedisConnection, lockMs: number): ChangesOfKey {
  const script = <Reply>(lua: string) => new BatchedScript<Reply>(redis, lua, 2);
  const claimBoth = script<ClaimReply>(`function(key, lock, owner, fingerprint)
  ${known}
  if not ${take(lockMs)} then return 0 end
  ${begin}
  return 1
end`);
  const completeBoth = script(`function(key, lock, owner, fingerprint, response, is_refusal)
  ${complete}
  ${release}
  return 1
end`);
  const forgetBoth = script(`function(key, lock, owner) ${forget} ${release} return 1 end`);
  return {
    claim: (key, owner, fingerprint) => claimBoth.run(cacheKey(key), lockKey(key), owner, fingerprint),
    complete: (key, owner, { fingerprint, response, isRefusal }, onError) =>
      completeBoth.runWithoutReply([cacheKey(key), lockKey(key), owner, fingerprint, response, isRefusal ? 1 : 0], onError),
    forget: (key, owner, onError) => forgetBoth.runWithoutReply([cacheKey(key), lockKey(key), owner], onError),
  };
}

/**
 * For a cluster: key and lock may be on two nodes, so two scripts are sent at the same time. If their results disagree, the
 * idempotency row in PostgreSQL decides.
 */
function clusterScripts(redis: RedisConnection, lockMs: number, releaseLock: BatchedScript<number>): ChangesOfKey {
  const takeLock = new BatchedScript<number>(redis, `function(lock, owner) return ${take(lockMs)} and 1 or 0 end`);
  const beginKey = new BatchedScript<CachedFields | number>(
    redis,
    `function(key, fingerprint)
  ${known}
  ${begin}
  return 0
end`,
  );
  const completeKey = new BatchedScript(redis, `function(key, fingerprint, response, is_refusal) ${complete} return 1 end`);
  const forgetKey = new BatchedScript(redis, `function(key) ${forget} return 1 end`);
  return {
    claim: async (key, owner, fingerprint) => {
      const [taken, begun] = await Promise.all([takeLock.run(lockKey(key), owner), beginKey.run(cacheKey(key), fingerprint)]);
      if (typeof begun === 'number') return taken === 1 ? 1 : 0;
      if (taken === 1) await releaseLock.run(lockKey(key), owner);
      return begun;
    },
    complete: (key, owner, { fingerprint, response, isRefusal }, onError) =>
      Promise.all([
        completeKey.runWithoutReply([cacheKey(key), fingerprint, response, isRefusal ? 1 : 0], onError),
        releaseLock.runWithoutReply([lockKey(key), owner], onError),
      ]),
    forget: (key, owner, onError) =>
      Promise.all([
        forgetKey.runWithoutReply([cacheKey(key)], onError),
        releaseLock.runWithoutReply([lockKey(key), owner], onError),
      ]),
  };
}
