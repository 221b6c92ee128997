import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { AnswersUnderWay } from './answers-in-turn.ts';
import { toProblem } from './problem.ts';
import { RequestRefused } from './request-refused.ts';

/**
 * Server timeouts against slow clients: 10 s for the headers, 15 s for the whole request. Node checks them every 5 s here,
 * instead of every 30 s. Missing Host headers are refused by `refuseAmbiguousRequests`, with a problem as the body.
 */
export const connectionLimits = {
  requestTimeout: 15_000,
  http: { headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 5000, requireHostHeader: false },
} as const;

const IDLE_CHECK_INTERVAL_MS = 50;
const NOT_HTTP = 'This is not a request in HTTP/1.1.';

/**
 * Lets the server close without waiting for open connections: while it closes, all connections are closed as soon as no answer is
 * under way. Node alone would wait for connections that have not sent a request yet, because Node does not count them as idle. The
 * answers are listed, not the connections: a queue service process has 19,000 connections, and a list of them took two kilobytes for each.
 */
export function closeConnectionsWhenIdle(fastify: FastifyInstance, answers: AnswersUnderWay): void {
  const { server } = fastify;
  fastify.addHook('preClose', (done) => {
    const timer = setInterval(() => answers.size === 0 && server.closeAllConnections(), IDLE_CHECK_INTERVAL_MS).unref();
    server.once('close', () => clearInterval(timer));
    done();
  });
}

/**
 * Refuses what a proxy and Node may read differently: several Host headers, of which Node would take the first, and versions other than
 * HTTP/1.0 and 1.1, which Node would answer. The connection is closed, because the rest of it may be read differently, too.
 */
export function refuseAmbiguousRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw: { httpVersion, rawHeaders } }, _reply, done) => {
    let hosts = 0;
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') hosts += 1;
    const detail =
      httpVersion !== '1.1' && httpVersion !== '1.0'
        ? NOT_HTTP
        : hosts > 1
          ? 'The request has several Host headers.'
          : hosts === 0 && httpVersion === '1.1'
            ? 'The request has no Host header.'
            : undefined;
    done(
      detail === undefined ? undefined : new RequestRefused('VALIDATION_FAILED', { detail, headers: { connection: 'close' } }),
    );
  });
}

function refusalFor(code: string | undefined): RequestRefused {
  if (code === 'HPE_HEADER_OVERFLOW') return new RequestRefused('HEADERS_TOO_LARGE');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new RequestRefused('REQUEST_TIMEOUT');
  return new RequestRefused('VALIDATION_FAILED', { detail: NOT_HTTP });
}

/**
 * Answers bytes that Node could not parse as a request. No route, hook or filter runs for them. `whenRefused` gets the request id
 * and the status of the answer.
 */
export function answerUnparsable(
  error: { readonly code?: string; readonly rawPacket?: unknown },
  socket: Socket,
  whenRefused: (requestId: string, status: number) => void,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const { status, body } = toProblem(refusalFor(error.code), requestId);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
  ];
  // The answer to HEAD has no body: the client would read a body as the beginning of the next answer.
  const isHead = Buffer.isBuffer(error.rawPacket) && error.rawPacket.subarray(0, 5).toString('latin1') === 'HEAD ';
  socket.end(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : text}`);
  whenRefused(requestId, status);
}
