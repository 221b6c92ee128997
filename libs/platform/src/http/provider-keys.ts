import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { callHttp, isSuccess, jsonIn } from '../http-client/http-client.ts';
import { RequestRefused } from './request-refused.ts';

/** After this time the keys are fetched again, by the next request and without making it wait. */
const REFRESH_AFTER_MS = 5 * 60_000;
/**
 * After this time a request waits for new keys, unless the provider has failed since the last success. So a key that the provider has
 * withdrawn is refused after 10 minutes, also by a process that had no requests in between.
 */
const STALE_AFTER_MS = 10 * 60_000;
/** While the provider is away, its last keys are used for this long. */
const KEPT_MS = 24 * 60 * 60_000;
/** Minimum time between two fetches because of an unknown key id, or while the provider fails. Anybody can invent a key id. */
const MIN_INTERVAL_MS = 5000;
/** The same while there are no keys at all: nobody can call, so the provider is asked more often. */
const MIN_INTERVAL_WITHOUT_KEYS_MS = 1000;
const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 256 * 1024;

type KeySet = ReturnType<typeof createLocalJWKSet>;

/**
 * The public keys of the identity provider (JWKS). They are kept for 24 hours when the provider does not answer, so that callers with
 * valid tokens do not notice that it is away. jose's own remote key set forgets them after ten minutes: then every call was 503.
 */
export class ProviderKeys {
  private keys: { readonly set: KeySet; readonly fetchedAt: number } | undefined;
  private lastAttempt: { readonly at: number; readonly failed: boolean } | undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly url: URL) {}

  /** The key for a token, for `jwtVerify`. Rejects with DEPENDENCY_UNAVAILABLE if the key may exist but the provider does not answer. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.current();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The provider may have made this key after the last fetch.
      if (this.mayFetch(MIN_INTERVAL_MS)) await this.refresh();
      else await this.running;
      if (this.lastAttempt?.failed) throw unavailable();
      return (this.keys?.set ?? keys)(header, token);
    }
  };

  private async current(): Promise<KeySet> {
    const ageMs = this.ageMs();
    const minIntervalMs = ageMs < KEPT_MS ? MIN_INTERVAL_MS : MIN_INTERVAL_WITHOUT_KEYS_MS;
    if (ageMs >= REFRESH_AFTER_MS && this.mayFetch(minIntervalMs)) void this.refresh();
    if (ageMs >= KEPT_MS || (ageMs >= STALE_AFTER_MS && !this.lastAttempt?.failed)) await this.running;
    if (!this.keys || this.ageMs() >= KEPT_MS) throw unavailable();
    return this.keys.set;
  }

  private ageMs(): number {
    return this.keys ? Date.now() - this.keys.fetchedAt : Number.POSITIVE_INFINITY;
  }

  private mayFetch(minIntervalMs: number): boolean {
    return !this.running && Date.now() - (this.lastAttempt?.at ?? Number.NEGATIVE_INFINITY) >= minIntervalMs;
  }

  /** Fetches the keys once. Never rejects: after a failure the old keys stay. */
  private refresh(): Promise<void> {
    const fetched = fetchKeys(this.url).then(
      (set) => {
        this.keys = { set, fetchedAt: Date.now() };
        this.lastAttempt = { at: Date.now(), failed: false };
      },
      () => void (this.lastAttempt = { at: Date.now(), failed: true }),
    );
    return (this.running = fetched.finally(() => (this.running = undefined)));
  }
}

async function fetchKeys(url: URL): Promise<KeySet> {
  const headers = { accept: 'application/json' };
  const answer = await callHttp({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS, limitBytes: MAX_ANSWER_BYTES });
  const keys = jsonIn(answer) as JSONWebKeySet;
  const set = createLocalJWKSet(keys);
  // An empty list is a fault of the provider: with it every caller would be refused.
  if (!isSuccess(answer) || keys.keys.length === 0) throw new Error(`no keys in an answer with status ${answer.status}`);
  return set;
}

function unavailable(): RequestRefused {
  return new RequestRefused('DEPENDENCY_UNAVAILABLE', { detail: 'The identity provider does not answer.' });
}
