import { NoAnswer, ProviderDown } from './send-errors.ts';

/** An answer has a few hundred bytes; whoever sends more is not the provider. */
const ANSWER_LIMIT_BYTES = 64 * 1024;
const LONGEST_WAIT_MS = 10 * 60_000;
const SHORTEST_WAIT_MS = 1000;

/** Codes of errors that come before the first byte of a request is written. */
const NOBODY_THERE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

export interface HttpAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;
}

export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A form brings its own content type. */
  readonly body: string | URLSearchParams | FormData;
  readonly timeoutMs: number;
}

/** One POST, never repeated here. Without an answer it says whether the request can have arrived. */
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
    if (NOBODY_THERE.has(code)) throw new ProviderDown(`nobody there (${code})`);
    throw new NoAnswer(`no answer (${code})`);
  }
}

/** Seconds or a date (RFC 9110 §10.2.3), kept within reason. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(wait) ? Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, wait)) : undefined;
}

async function readAtMost(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > ANSWER_LIMIT_BYTES) break;
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

interface Fault {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/** fetch hides the reason in the cause, sometimes two deep; with two addresses for a name it is a list. */
function codeOf(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 3) return 'unknown';
  const { name, code, cause, errors } = error as Fault;
  if (name === 'TimeoutError') return 'time-out';
  if (typeof code === 'string') return code;
  return codeOf(cause ?? errors?.[0], depth + 1);
}
