import { randomUUID } from 'node:crypto';
import type { StoredAnswer } from '../logging/request-context.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { SlotList } from '../slot-list.ts';
import { keyScripts, type ClaimReply, type OnError, type KeyScripts, type CachedFields } from './key-scripts.ts';

/** Lifetime of the lock of an idempotency key (CONTRACT §4). The longest allowed request takes longer, so the lock is renewed. */
const LOCK_TTL_MS = 30_000;
/** How often a lock is renewed in its lifetime: two renewals may fail before the lock is lost. */
const RENEWALS_PER_LOCK_TTL = 3;

const BODY = ',"body":';

/** What Redis stores about an idempotency key. A running request (`processing`) has no answer yet. */
interface CachedAnswer {
  readonly state: 'processing' | 'completed';
  readonly fingerprint: string;
  readonly answer?: StoredAnswer;
}

/** The outcome of a request, as it is stored under its idempotency key. */
type Finished = Required<Pick<CachedAnswer, 'fingerprint' | 'answer'>>;

/** The lock of an idempotency key, which the request with this `owner` holds until it is answered. */
export interface KeyLock {
  readonly key: string;
  readonly owner: string;
  /** Its slot in the list of locks that the process renews. */
  readonly slot: number;
}

/**
 * Result of claiming a key for a request:
 * - `lock`: this request has the lock of the key and may run.
 * - `known`: the key is finished, or belongs to a request with another fingerprint.
 * - `isUnknown`: Redis did not answer.
 * - no member: the first request with this key is still running.
 */
export interface KeyClaim {
  readonly lock?: KeyLock;
  readonly known?: CachedAnswer;
  readonly isUnknown?: boolean;
}

/**
 * The part of idempotency (CONTRACT §4) that is in Redis. It knows running and finished keys and replays answers without a query
 * to PostgreSQL. Redis may lose its data at any time: the idempotency row, committed with the effect, prevents a second effect.
 */
export class IdempotencyCache {
  private readonly scripts: KeyScripts;
  /** The locks that this process holds. */
  private readonly heldLocks = new SlotList<Omit<KeyLock, 'slot'>>();
  private readonly process = randomUUID();
  private claimCount = 0;
  private renewal: NodeJS.Timeout | undefined;

  constructor(
    redis: RedisConnection,
    private readonly lockMs = LOCK_TTL_MS,
  ) {
    this.scripts = keyScripts(redis, lockMs);
  }

  /**
   * Takes the lock of the key and renews it until `complete` or `forget` is called: one of them, and only once for each lock. Takes no lock
   * if the key is known or its first request is still running.
   */
  claim(key: string, fingerprint: string): Promise<KeyClaim> {
    this.claimCount += 1;
    const owner = `${this.process}.${this.claimCount}`;
    const toClaim = (reply: ClaimReply): KeyClaim => {
      if (reply === 1) return { lock: this.renewWhileHeld({ key, owner }) };
      return reply === 0 ? {} : { known: cached(reply) };
    };
    return this.scripts.claim(key, owner, fingerprint).then(toClaim, (error: unknown) => {
      // The claim may have succeeded although its reply was lost, so release the lock. Do not wait: Redis has just failed.
      this.scripts.release(key, owner).catch(() => undefined);
      throw error;
    });
  }

  /**
   * Stores the answer and releases the lock. Resolves when the command was sent to Redis. So when a caller gets the answer and
   * repeats the request, that request reaches Redis after the command.
   */
  complete(lock: KeyLock, { fingerprint, answer }: Finished, onError: OnError): Promise<unknown> {
    this.heldLocks.remove(lock.slot);
    const isRefusal = answer.status >= 400;
    return this.scripts.complete(lock.key, lock.owner, { fingerprint, response: toText(answer), isRefusal }, onError);
  }

  /** Deletes the key of a request that had no effect and whose answer is not stored: the key may be used again. */
  forget(lock: KeyLock, onError: OnError): Promise<unknown> {
    this.heldLocks.remove(lock.slot);
    return this.scripts.forget(lock.key, lock.owner, onError);
  }

  /** One timer renews all locks of the process. A timer for each lock would cost more, because locks are many and short-lived. */
  private renewWhileHeld(lock: Omit<KeyLock, 'slot'>): KeyLock {
    this.renewal ??= setInterval(() => {
      for (const { key, owner } of this.heldLocks) this.scripts.renew(key, owner).catch(() => undefined);
    }, this.lockMs / RENEWALS_PER_LOCK_TTL).unref();
    return { ...lock, slot: this.heldLocks.add(lock) };
  }
}

/**
 * Makes the stored text of an answer. The body is the last member and is copied as text, so that it is replayed byte for byte and
 * not parsed again.
 */
function toText({ status, location, body }: StoredAnswer): string {
  const head = location === undefined ? `{"status":${status}` : `{"status":${status},"location":${JSON.stringify(location)}`;
  return body === '' ? `${head}}` : `${head},"body":${body}}`;
}

function fromText(text: string): StoredAnswer {
  // The first match of `BODY` is the body member: inside the location the quotes of `BODY` would be escaped.
  const at = text.indexOf(BODY);
  const head = JSON.parse(at < 0 ? text : `${text.slice(0, at)}}`) as Omit<StoredAnswer, 'body'>;
  return { ...head, body: at < 0 ? '' : text.slice(at + BODY.length, -1) };
}

function cached([status, fingerprint, response]: CachedFields): CachedAnswer | undefined {
  if (!fingerprint || (status !== 'processing' && status !== 'completed')) return undefined;
  return { state: status, fingerprint, ...(response ? { answer: fromText(response) } : {}) };
}
