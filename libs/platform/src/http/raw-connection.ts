import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { toProblem } from './problem.ts';
import { RequestRefused } from './request-refused.ts';

/**
 * Server timeouts against slow clients: 10 s for the headers, 15 s for the whole request. Node checks them every 5 s here,
 * instead of every 30 s.
 */
export const slowClientLimits = {
  requestTimeout: 15_000,
  http: { headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 5000 },
} as const;

const IDLE_CHECK_INTERVAL_MS = 50;

/**
 * Lets the server close without waiting for open connections: while it closes, all connections are closed as soon as no request
 * is running. Node alone would wait for connections that have not sent a request yet, because Node does not count them as idle.
 * Running requests are counted, instead of keeping a list of connections: a queue service process has 19,000 connections, and a
 * list took two kilobytes for each.
 */
export function closeConnectionsWhenIdle(fastify: FastifyInstance): void {
  const { server } = fastify;
  let running = 0;
  const requestEnded = (): void => {
    running -= 1;
  };
  server.on('request', (_request, response: ServerResponse) => {
    running += 1;
    response.once('close', requestEnded);
  });
  fastify.addHook('preClose', (done) => {
    const timer = setInterval(() => running === 0 && server.closeAllConnections(), IDLE_CHECK_INTERVAL_MS).unref();
    server.once('close', () => clearInterval(timer));
    done();
  });
}

function refusalFor(code: string | undefined): RequestRefused {
  if (code === 'HPE_HEADER_OVERFLOW') return new RequestRefused('HEADERS_TOO_LARGE');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new RequestRefused('REQUEST_TIMEOUT');
  return new RequestRefused('VALIDATION_FAILED', { detail: 'This is not a request in HTTP/1.1.' });
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
