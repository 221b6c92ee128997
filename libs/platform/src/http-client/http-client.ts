import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { currentTrace, inSpan, SpanKind, type SpanOptions } from '../tracing/spans.ts';
import { formatTraceparent } from '../tracing/traceparent.ts';
import { HttpCallFailed } from './http-call-failed.ts';
import { addressIn, isPublicAddress, publicLookup, privateAddress } from './public-addresses.ts';
import { readBody, type BodyLimit } from './read-body.ts';

/**
 * How long an unused connection is kept, or shorter if the server's header `keep-alive` says so. Most servers close unused
 * connections after 5 s or later. So a request is hardly ever sent on a connection that its server is closing.
 */
const IDLE_TIMEOUT_MS = 4000;

/**
 * Connections are kept open and used again. Unused ones do not keep the process running, so nobody has to close them. The number
 * of connections to one server is not limited: a call that hangs must not delay other calls.
 */
const agentOptions = { keepAlive: true, timeout: IDLE_TIMEOUT_MS };
const agentsWith = (options: http.AgentOptions) => ({ 'http:': new http.Agent(options), 'https:': new https.Agent(options) });
const agents = agentsWith(agentOptions);
/** They have connections of their own, so that none is used that was opened without the check. */
const publicAgents = agentsWith({ ...agentOptions, lookup: publicLookup() });

/** One outgoing request. */
export interface HttpRequest extends BodyLimit {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string | URL;
  /** With `accept-encoding: gzip` the answer may be compressed; it is decompressed here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are JSON, unless the headers name another content type. A form sets its own content type. */
  readonly body?: string | Uint8Array | URLSearchParams | FormData;
  /** The timeout of the whole call, until the last byte of the answer. */
  readonly timeoutMs: number;
  /** Connects only to addresses of the public internet. For URLs that somebody else has chosen. */
  readonly publicOnly?: boolean;
}

/** The answer to a request, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * Sends one request. Redirects are not followed and nothing is sent twice. Every failure is an HttpCallFailed, which says whether
 * the request may have arrived. This includes a request on a kept connection that the server closes at the same moment: the
 * server may have read the request, so only the caller knows whether it may be repeated. The call continues the trace of the
 * current request (`traceparent`).
 */
export function callHttp(request: HttpRequest): Promise<HttpAnswer> {
  const describe = (): SpanOptions => {
    const { hostname, port, protocol } = new URL(request.url);
    const attributes = {
      'http.request.method': request.method,
      'server.address': hostname,
      'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    };
    return { kind: SpanKind.CLIENT, attributes };
  };
  return inSpan(request.method, describe, () => send(request));
}

async function send({ body, timeoutMs, limitBytes, whenLarger, ...request }: HttpRequest): Promise<HttpAnswer> {
  const content = body === undefined ? undefined : await contentOf(body);
  let outgoing: ClientRequest | undefined;
  let answer: IncomingMessage | undefined;
  let isConnected = false;
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    outgoing?.destroy();
  }, timeoutMs);
  try {
    outgoing = open(request, content?.type, () => (isConnected = true));
    answer = await answerOf(outgoing, content?.bytes);
    const text = await readBody(answer, { limitBytes, whenLarger });
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: text };
  } catch (error) {
    throw new HttpCallFailed(isTimedOut ? 'timeout' : codeOf(error), isConnected, answer?.statusCode);
  } finally {
    clearTimeout(timer);
  }
}

/** True for a status 2xx. */
export const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300;

/** The parsed JSON of a body. Undefined if the body is not JSON. */
export function jsonIn({ body }: { readonly body: string }): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

async function contentOf(body: NonNullable<HttpRequest['body']>): Promise<{ bytes: string | Uint8Array; type: string }> {
  if (body instanceof URLSearchParams) return { bytes: body.toString(), type: 'application/x-www-form-urlencoded' };
  if (!(body instanceof FormData)) return { bytes: body, type: 'application/json' };
  const encoded = new Response(body);
  return { bytes: await encoded.bytes(), type: encoded.headers.get('content-type') ?? '' };
}

/** Opens a request. `whenConnected` is called when the first byte can be sent: after the TLS handshake, if there is one. */
function open(
  { method, url, headers, publicOnly }: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'publicOnly'>,
  contentType: string | undefined,
  whenConnected: () => void,
): ClientRequest {
  const target = typeof url === 'string' ? new URL(url) : url;
  const isSecure = target.protocol === 'https:';
  const address = addressIn(target.hostname);
  // No name is looked up for a URL with an address.
  if (publicOnly && address !== undefined && !isPublicAddress(address)) throw privateAddress(target.hostname);
  const trace = currentTrace();
  const outgoing = (isSecure ? https : http).request(target, {
    method,
    agent: (publicOnly ? publicAgents : agents)[isSecure ? 'https:' : 'http:'],
    headers: {
      'user-agent': 'tribina',
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(trace ? { traceparent: formatTraceparent(trace) } : {}),
      ...headers,
    },
  });
  return outgoing.once('socket', (socket) => {
    if (outgoing.reusedSocket) whenConnected();
    else socket.once(isSecure ? 'secureConnect' : 'connect', whenConnected);
  });
}

/** Sends the request. Resolves when the headers of the answer have arrived. */
function answerOf(outgoing: ClientRequest, bytes: string | Uint8Array | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    // The listener stays after the answer: an error without a listener would end the process.
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

function codeOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  return code ?? name;
}
