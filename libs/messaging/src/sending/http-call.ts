import { NoAnswer, ProviderDown } from './send-errors.ts';

/** Maximum length of an answer that is read; more is ignored. The answer of a provider has a few hundred bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_RETRY_AFTER_MS = 10 * 60_000;
const MIN_RETRY_AFTER_MS = 1000;

/** Error codes of errors that occur before the first byte of a request is sent. */
const CONNECT_ERROR_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

/** The answer of a provider. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;
}

/** A POST to a provider. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body. A form sets its own content type. */
  readonly body: string | URLSearchParams | FormData;
  readonly timeoutMs: number;
}

/**
 * Sends one POST without retries. When no answer comes, it throws ProviderDown if the request was certainly not sent, and
 * NoAnswer if it may have arrived.
 */
export async function post({ url, headers, body, timeoutMs }: HttpRequest): Promise<HttpAnswer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    return {
      status: response.status,
      body: asJson(await readAtMost(response)),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
    };
  } catch (error) {
    const code = codeOf(error);
    if (CONNECT_ERROR_CODES.has(code)) throw new ProviderDown(`no connection (${code})`);
    throw new NoAnswer(`no answer (${code})`);
  }
}

/**
 * Returns the milliseconds that a Retry-After header asks for: seconds or a date (RFC 9110 §10.2.3). The result is limited to 1 s
 * … 10 min.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(wait) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, wait)) : undefined;
}

async function readAtMost(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > MAX_ANSWER_BYTES) break;
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorFields {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/**
 * Finds the code of a fetch error. It is in the cause of the error, sometimes two levels deep, or in a list of errors per
 * address.
 */
function codeOf(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 3) return 'unknown';
  const { name, code, cause, errors } = error as ErrorFields;
  if (name === 'TimeoutError') return 'timeout';
  if (typeof code === 'string') return code;
  return codeOf(cause ?? errors?.[0], depth + 1);
}
