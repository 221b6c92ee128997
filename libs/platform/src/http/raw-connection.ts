import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
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

/**
 * HTTP clients open connections for later, and some people open them for nothing. To Node one that has never asked anything
 * is not idle: closing would wait for it until the whole drain is cut off.
 */
export function dropTheSilentAtTheEnd(fastify: FastifyInstance): void {
  const silent = new Set<Socket>();
  function forget(this: Socket): void {
    silent.delete(this);
  }
  fastify.server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.on('close', forget);
  });
  fastify.server.on('request', ({ socket }) => silent.delete(socket));
  fastify.addHook('preClose', (done) => {
    for (const socket of silent) socket.destroy();
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
