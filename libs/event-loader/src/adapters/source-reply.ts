import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EventFetchError } from '../core/event.ts';
import { parseExactly } from './exact-json.ts';

/**
 * The timeout of one fetch: less than half of a lock's lifetime (30 s), so a loader never loses its lock only because a fetch is
 * slow.
 */
const FETCH_TIMEOUT_MS = 10_000;
/** The largest answer: 8 MB, enough for 1,000 events of 8 KB. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/**
 * An answer that is larger than `RATIO_CHECK_MIN_BYTES` and compressed by more than this ratio is refused as a compression bomb.
 */
const MAX_COMPRESSION_RATIO = 50;
const RATIO_CHECK_MIN_BYTES = 256 * 1024;

/** The address of a source over HTTP, and the headers of every request to it. */
export interface RemoteSource {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer to one GET, before it is parsed. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** The limits of one GET, if not the defaults above. */
export interface ReplyLimits {
  readonly timeoutMs?: number;
  readonly bodyLimit?: number;
}

/**
 * Agents keep connections open. They do not limit the connections to one server: a source that hangs must not delay other sources
 * of the same server.
 */
const agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) };

/**
 * Sends one GET. The whole answer must arrive within the timeout and have at most 8 MB; redirects are not followed. `fetch` is
 * not used, because it does not tell the compressed size. Errors never contain header values, which may be secrets.
 */
export async function getReply(url: URL, { headers }: RemoteSource, limits: ReplyLimits = {}): Promise<Reply> {
  const { timeoutMs = FETCH_TIMEOUT_MS, bodyLimit = MAX_BODY_BYTES } = limits;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await sendRequest(url, headers, signal);
    const status = answer.statusCode ?? 0;
    if (status >= 300 && status < 400)
      throw refuse(answer, 'SOURCE_REDIRECT', `it answered ${status}; redirects are not followed`);
    if (status === 401 || status === 403)
      throw refuse(answer, 'SOURCE_FORBIDDEN', `it answered ${status}: check the headers of this source`);
    return { status, body: await read(answer, bodyLimit) };
  } catch (error) {
    if (error instanceof EventFetchError) throw error;
    if (signal.aborted) throw new EventFetchError('SOURCE_TIMEOUT', `no complete answer within ${timeoutMs / 1000} s`);
    const { code, message } = error as NodeJS.ErrnoException;
    throw new EventFetchError('SOURCE_UNREACHABLE', code ?? message, { cause: error });
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

/** Resolves when the headers of the answer have arrived. */
function sendRequest(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<http.IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  const options = { headers: { accept: 'application/json', 'accept-encoding': 'gzip', ...headers }, signal };
  return new Promise((resolve, reject) => {
    const request = isSecure
      ? https.get(url, { ...options, agent: agents['https:'] }, resolve)
      : http.get(url, { ...options, agent: agents['http:'] }, resolve);
    request.on('error', reject);
  });
}

function refuse(answer: http.IncomingMessage, code: EventFetchError['code'], detail: string): EventFetchError {
  answer.destroy();
  return new EventFetchError(code, detail);
}

async function read(answer: http.IncomingMessage, bodyLimit: number): Promise<string> {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip')
    throw refuse(answer, 'SOURCE_BAD_FORMAT', 'the answer has a compression that was not requested');
  let compressedSize = 0;
  answer.on('data', (bytes: Buffer) => (compressedSize += bytes.length));
  const decompressed: Readable = encoding === 'gzip' ? answer.pipe(createGunzip()) : answer;
  answer.on('error', (error) => decompressed.destroy(error));
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decompressed as AsyncIterable<Buffer>) {
    size += chunk.length;
    const isBomb = size > RATIO_CHECK_MIN_BYTES && size > compressedSize * MAX_COMPRESSION_RATIO;
    if (size > bodyLimit || isBomb)
      throw refuse(answer, 'SOURCE_TOO_LARGE', isBomb ? 'the answer is compressed too much' : `more than ${bodyLimit} bytes`);
    chunks.push(chunk);
  }
  if (!answer.complete) throw new EventFetchError('SOURCE_UNREACHABLE', 'the answer is incomplete');
  return Buffer.concat(chunks).toString('utf8');
}
