import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EventFetchError } from '../core/event.ts';
import { parseExactly } from './exact-json.ts';

/** Less than half of a lock's life (30 s), so that a holder that lives never loses it to its own slowness. */
const FETCH_TIMEOUT_MS = 10_000;
/** A thousand events of 8 KB. */
const BODY_LIMIT = 8 * 1024 * 1024;
/** What is packed tighter is a bomb; a small answer may be. */
const UNPACKED_RATIO = 50;
const RATIO_MATTERS_FROM = 256 * 1024;

export interface RemoteSource {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly body: string;
}

export interface ReplyLimits {
  readonly timeoutMs?: number;
  readonly bodyLimit?: number;
}

/** As many connections as there are sources at one address: a source that hangs must not keep its neighbours' requests waiting. */
const agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) };

/**
 * One GET: whole within the time, at most 8 MB, no redirect followed. Not `fetch`, which unpacks without saying how much came
 * in. Nothing of the headers is ever in an error: they may be secrets.
 */
export async function getReply(url: URL, { headers }: RemoteSource, limits: ReplyLimits = {}): Promise<Reply> {
  const { timeoutMs = FETCH_TIMEOUT_MS, bodyLimit = BODY_LIMIT } = limits;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await begun(url, headers, signal);
    const status = answer.statusCode ?? 0;
    if (status >= 300 && status < 400)
      throw refuse(answer, 'SOURCE_REDIRECT', `it answered ${status}; redirects are not followed`);
    if (status === 401 || status === 403) throw refuse(answer, 'SOURCE_FORBIDDEN', `it answered ${status}: look at its headers`);
    return { status, body: await read(answer, bodyLimit) };
  } catch (error) {
    if (error instanceof EventFetchError) throw error;
    if (signal.aborted) throw new EventFetchError('SOURCE_TIMEOUT', `no whole answer within ${timeoutMs / 1000} s`);
    const { code, message } = error as NodeJS.ErrnoException;
    throw new EventFetchError('SOURCE_UNREACHABLE', code ?? message, { cause: error });
  }
}

export function parseReply({ status, body }: Reply): unknown {
  if (status < 200 || status > 299) throw new EventFetchError('SOURCE_FAILED', `it answered ${status}`);
  try {
    return parseExactly(body);
  } catch {
    throw new EventFetchError('SOURCE_BAD_FORMAT', 'the answer is not JSON');
  }
}

function begun(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<http.IncomingMessage> {
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
    throw refuse(answer, 'SOURCE_BAD_FORMAT', 'the answer is packed in a way that was not asked for');
  let packed = 0;
  answer.on('data', (bytes: Buffer) => (packed += bytes.length));
  const unpacked: Readable = encoding === 'gzip' ? answer.pipe(createGunzip()) : answer;
  answer.on('error', (error) => unpacked.destroy(error));
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    size += chunk.length;
    const isBomb = size > RATIO_MATTERS_FROM && size > packed * UNPACKED_RATIO;
    if (size > bodyLimit || isBomb)
      throw refuse(answer, 'SOURCE_TOO_LARGE', isBomb ? 'the answer is packed too tightly' : `more than ${bodyLimit} bytes`);
    chunks.push(chunk);
  }
  if (!answer.complete) throw new EventFetchError('SOURCE_UNREACHABLE', 'the answer broke off');
  return Buffer.concat(chunks).toString('utf8');
}
