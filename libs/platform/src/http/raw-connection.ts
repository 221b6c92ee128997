import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { toProblem } from './problem.ts';
import { RequestRefused } from './request-refused.ts';

/**
 * Who sends a byte a second holds a connection so long and no longer. Node looks every five seconds, instead of every
 * thirty, whether somebody is over it.
 */
export const slowClients = {
  requestTimeout: 15_000,
  http: { headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 5000 },
} as const;

const LOOK_FOR_THE_LAST_MS = 50;

/**
 * HTTP clients open connections for later, and some people open them for nothing. To Node one that has not asked anything yet
 * is not idle, and closing would wait for it until the whole drain is cut off. So once nothing runs any more, all go. Requests
 * are counted, not connections: a pod has 19,000 of those, and two kilobytes for each were lost to a list of them.
 */
export function leaveNobodyAtTheEnd(fastify: FastifyInstance): void {
  const { server } = fastify;
  let running = 0;
  const isOver = (): void => {
    running -= 1;
  };
  server.on('request', (_request, response: ServerResponse) => {
    running += 1;
    response.once('close', isOver);
  });
  fastify.addHook('preClose', (done) => {
    const timer = setInterval(() => running === 0 && server.closeAllConnections(), LOOK_FOR_THE_LAST_MS).unref();
    server.once('close', () => clearInterval(timer));
    done();
  });
}

function refusalFor(code: string | undefined): RequestRefused {
  if (code === 'HPE_HEADER_OVERFLOW') return new RequestRefused('HEADERS_TOO_LARGE');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new RequestRefused('REQUEST_TIMEOUT');
  return new RequestRefused('VALIDATION_FAILED', { detail: 'This is not a request in HTTP/1.1.' });
}

/** Answers what never became a request: no route, no hook and no filter will see it. */
export function answerUnparsable(error: { readonly code?: string; readonly rawPacket?: unknown }, socket: Socket): void {
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
  ];
  // An answer to HEAD is its head: what follows it would be taken for the next answer.
  const isHead = Buffer.isBuffer(error.rawPacket) && error.rawPacket.subarray(0, 5).toString('latin1') === 'HEAD ';
  socket.end(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : text}`);
}
