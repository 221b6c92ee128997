import type { HttpCallFailed } from '#platform/http-client/http-call-failed';
import { callHttp, jsonIn, type HttpRequest } from '#platform/http-client/http-client';
import { NoAnswer, ProviderDown, RateLimited } from './send-errors.ts';

/** Maximum length of an answer that is read; more is ignored. The answer of a provider has a few hundred bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_RETRY_AFTER_MS = 10 * 60_000;
const MIN_RETRY_AFTER_MS = 1000;

/** The answer of a provider. `body` is its JSON, or undefined. */
export interface ProviderAnswer {
  readonly status: number;
  readonly body: unknown;
  /** How long to pause after an answer 429: its Retry-After, or one second. */
  readonly retryAfterMs: number;
}

/** A POST to a provider. */
export type ProviderRequest = Pick<HttpRequest, 'url' | 'headers' | 'body' | 'timeoutMs'>;

/**
 * Sends one POST without retries. When no answer comes, it throws ProviderDown if the request was certainly not sent, and
 * NoAnswer if it may have arrived.
 */
export async function post(request: ProviderRequest): Promise<ProviderAnswer> {
  const limits = { limitBytes: MAX_ANSWER_BYTES, whenLarger: 'cut' } as const;
  const answer = await callHttp({ ...request, ...limits, method: 'POST' }).catch(({ code, mayHaveArrived }: HttpCallFailed) => {
    throw mayHaveArrived ? new NoAnswer(`no answer (${code})`) : new ProviderDown(`no connection (${code})`);
  });
  const { status, headers } = answer;
  return { status, body: jsonIn(answer), retryAfterMs: retryAfterMs(headers['retry-after'], Date.now()) ?? MIN_RETRY_AFTER_MS };
}

/** The SendFailure of an answer that means the same at every provider: rate limited, or down. Undefined for other answers. */
export function failureOf({ status, retryAfterMs }: ProviderAnswer, reason: string): RateLimited | ProviderDown | undefined {
  if (status === 429) return new RateLimited(retryAfterMs, reason);
  return status >= 500 ? new ProviderDown(reason) : undefined;
}

/**
 * Returns the milliseconds that a Retry-After header asks for: seconds or a date (RFC 9110 §10.2.3). The result is limited to 1 s
 * … 10 min.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (!header?.trim()) return undefined;
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(wait) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, wait)) : undefined;
}
