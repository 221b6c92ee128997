import { randomUUID } from 'node:crypto';
import type { StoredAnswer } from '../logging/request-context.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { cacheKey, keySteps, type Claimed, type KeySteps, type KnownFields } from './key-steps.ts';

/** The contract's: shorter than the longest legal request, so it is renewed. */
const LOCK_TTL_MS = 30_000;
/** Two renewals may fail before the lock is lost. */
const RENEWALS_IN_A_LIFE = 3;

export interface CachedAnswer {
  readonly state: 'processing' | 'completed';
  readonly fingerprint: string;
  readonly answer?: StoredAnswer;
}

/** `owner` of the lock when the key is ours to work on; `known` when it is another request's, or finished; neither: somebody is at work. */
export interface KeyClaim {
  readonly owner?: string;
  readonly known?: CachedAnswer;
}

/**
 * The quick side of idempotency (CONTRACT §4): tells a running key from a finished one and replays without touching
 * PostgreSQL. It may lose anything at any time; the row that was committed with the effect is the fence.
 */
export class IdempotencyCache {
  private readonly steps: KeySteps;
  /** Locks in our hands: of which key, by owner. */
  private readonly held = new Map<string, string>();
  private readonly process = randomUUID();
  private claims = 0;
  private renewal: NodeJS.Timeout | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly lockMs = LOCK_TTL_MS,
  ) {
    this.steps = keySteps(redis, lockMs);
  }

  async read(key: string): Promise<CachedAnswer | undefined> {
    return cached(await this.redis.hmget(cacheKey(key), 'status', 'fingerprint', 'response'));
  }

  /** Takes the key, to be kept while the work lasts, unless it is known or somebody is at work. */
  claim(key: string, fingerprint: string): Promise<KeyClaim> {
    this.claims += 1;
    const owner = `${this.process}.${this.claims}`;
    const taken = (claimed: Claimed): KeyClaim => {
      if (claimed === 1) this.keep(key, owner);
      return claimed === 1 ? { owner } : claimed === 0 ? {} : { known: cached(claimed) };
    };
    return this.steps.claim(key, owner, fingerprint).then(taken, (error: unknown) => {
      // It may have succeeded. Nobody waits for a Redis that has just failed.
      this.steps.release(key, owner).catch(() => undefined);
      throw error;
    });
  }

  complete(key: string, owner: string, { fingerprint, answer }: { fingerprint: string; answer: StoredAnswer }): Promise<unknown> {
    this.held.delete(owner);
    const isRefusal = answer.status >= 400;
    return this.steps.complete(key, owner, { fingerprint, response: JSON.stringify(answer), isRefusal });
  }

  /** The request had no effect and no lasting answer: the key may be used again. */
  forget(key: string, owner: string): Promise<unknown> {
    this.held.delete(owner);
    return this.steps.forget(key, owner);
  }

  /** One look at all locks, which are short-lived and many, instead of a timer each. */
  private keep(key: string, owner: string): void {
    this.held.set(owner, key);
    this.renewal ??= setInterval(() => {
      for (const [by, of] of this.held) this.steps.renew(of, by).catch(() => undefined);
    }, this.lockMs / RENEWALS_IN_A_LIFE).unref();
  }
}

function cached([status, fingerprint, response]: KnownFields): CachedAnswer | undefined {
  if (!fingerprint || (status !== 'processing' && status !== 'completed')) return undefined;
  return { state: status, fingerprint, ...(response ? { answer: JSON.parse(response) as StoredAnswer } : {}) };
}
