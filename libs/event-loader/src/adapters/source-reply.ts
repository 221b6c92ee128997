import { HttpCallFailed } from '#platform/http-client/http-call-failed';
import { callHttp, type HttpAnswer } from '#platform/http-client/http-client';
import { EventFetchError } from '../core/event.ts';
import { parseExactly } from './exact-json.ts';

/**
 * The timeout of one fetch: less than half of a lock's lifetime (30 s), so a loader never loses its lock only because a fetch is
 * slow.
 */
const FETCH_TIMEOUT_MS = 10_000;
/** The largest answer: 8 MB, enough for 1,000 events of 8 KB. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The address of a source over HTTP, and the headers of every request to it. */
export interface RemoteSource {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer to one GET, before it is parsed. */
export type Reply = Pick<HttpAnswer, 'status' | 'body'>;

/** The limits of one GET, if not the defaults above. */
export interface ReplyLimits {
  readonly timeoutMs?: number;
  readonly bodyLimit?: number;
}

/**
 * Sends one GET. The whole answer must arrive within the timeout and have at most 8 MB; redirects are not followed. Errors never
 * contain header values, which may be secrets.
 */
export async function getReply(url: URL, { headers }: RemoteSource, limits: ReplyLimits = {}): Promise<Reply> {
  const { timeoutMs = FETCH_TIMEOUT_MS, bodyLimit: limitBytes = MAX_BODY_BYTES } = limits;
  const accepted = { accept: 'application/json', 'accept-encoding': 'gzip' };
  try {
    const reply = await callHttp({ method: 'GET', url, headers: { ...accepted, ...headers }, timeoutMs, limitBytes });
    requireAccess(reply.status);
    return reply;
  } catch (error) {
    if (!(error instanceof HttpCallFailed)) throw error;
    requireAccess(error.status);
    throw asFetchError(error, timeoutMs, limitBytes);
  }
}

/** Parses the JSON of an answer. Throws EventFetchError if the status is not 2xx or the body is not JSON. */
export function parseReply({ status, body }: Reply): unknown {
  if (status < 200 || status > 299) throw new EventFetchError('SOURCE_FAILED', `it answered ${status}`);
  try {
    return parseExactly(body);
  } catch {
    throw new EventFetchError('SOURCE_BAD_FORMAT', 'the answer is not JSON');
  }
}

/** Throws if the source redirects or refuses us. The status says so even if the rest of the answer cannot be read. */
function requireAccess(status = 0): void {
  if (status >= 300 && status < 400)
    throw new EventFetchError('SOURCE_REDIRECT', `it answered ${status}; redirects are not followed`);
  if (status === 401 || status === 403)
    throw new EventFetchError('SOURCE_FORBIDDEN', `it answered ${status}: check the headers of this source`);
}

function asFetchError({ code }: HttpCallFailed, timeoutMs: number, limitBytes: number): EventFetchError {
  const faults: Readonly<Record<string, ConstructorParameters<typeof EventFetchError>>> = {
    timeout: ['SOURCE_TIMEOUT', `no complete answer within ${timeoutMs / 1000} s`],
    too_large: ['SOURCE_TOO_LARGE', `more than ${limitBytes} bytes`],
    compressed_too_much: ['SOURCE_TOO_LARGE', 'the answer is compressed too much'],
    unknown_compression: ['SOURCE_BAD_FORMAT', 'the answer has a compression that was not requested'],
  };
  return new EventFetchError(...(faults[code] ?? ['SOURCE_UNREACHABLE', code]));
}
