import { randomUUID } from 'node:crypto';
import type { StoredAnswer } from '../logging/request-context.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { cacheKey, keySteps, type Claimed, type Failed, type KeySteps, type KnownFields } from './key-steps.ts';

/** The contract's: shorter than the longest legal request, so it is renewed. */
const LOCK_TTL_MS = 30_000;
/** Two renewals may fail before the lock is lost. */
const RENEWALS_IN_A_LIFE = 3;

const BODY = ',"body":';

export interface Finished {
  readonly fingerprint: string;
  readonly answer: StoredAnswer;
}

export interface CachedAnswer {
  readonly state: 'processing' | 'completed';
  readonly fingerprint: string;
  readonly answer?: StoredAnswer;
}

/**
 * `owner` of the lock when the key is ours to work on; `known` when it is another request's, or finished; `isUnknown` when
 * Redis could not be asked; none of them: somebody is at work.
 */
export interface KeyClaim {
  readonly owner?: string;
  readonly known?: CachedAnswer;
  readonly isUnknown?: boolean;
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

  /** Resolves when the answer is on its way to Redis: whoever hears of it from us and asks again asks after that. */
  complete(key: string, owner: string, { fingerprint, answer }: Finished, failed: Failed): Promise<unknown> {
    this.held.delete(owner);
    const isRefusal = answer.status >= 400;
    return this.steps.complete(key, owner, { fingerprint, response: toText(answer), isRefusal }, failed);
  }

  /** The request had no effect and no lasting answer: the key may be used again. */
  forget(key: string, owner: string, failed: Failed): Promise<unknown> {
    this.held.delete(owner);
    return this.steps.forget(key, owner, failed);
  }

  /** One look at all locks, which are short-lived and many, instead of a timer each. */
  private keep(key: string, owner: string): void {
    this.held.set(owner, key);
    this.renewal ??= setInterval(() => {
      for (const [by, of] of this.held) this.steps.renew(of, by).catch(() => undefined);
    }, this.lockMs / RENEWALS_IN_A_LIFE).unref();
  }
}

/** The body is the last member, as it stands, so that it need not be read and written again, and comes back to the letter. */
function toText({ status, location, body }: StoredAnswer): string {
  const head = location === undefined ? `{"status":${status}` : `{"status":${status},"location":${JSON.stringify(location)}`;
  return body === '' ? `${head}}` : `${head},"body":${body}}`;
}

function fromText(text: string): StoredAnswer {
  // In the location its quotes would be escaped.
  const at = text.indexOf(BODY);
  const head = JSON.parse(at < 0 ? text : `${text.slice(0, at)}}`) as Omit<StoredAnswer, 'body'>;
  return { ...head, body: at < 0 ? '' : text.slice(at + BODY.length, -1) };
}

function cached([status, fingerprint, response]: KnownFields): CachedAnswer | undefined {
  if (!fingerprint || (status !== 'processing' && status !== 'completed')) return undefined;
  return { state: status, fingerprint, ...(response ? { answer: fromText(response) } : {}) };
}
