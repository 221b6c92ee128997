import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { plainLines } from '../logging/log-lines.ts';
import type { Logger } from '../logging/logger.ts';
import { rulesOf } from './route-rules.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the log line of this request shall also contain, for example the id of the order of a payment. */
    logged?: Readonly<Record<string, string>>;
  }
}

/** Probes call these every few seconds. Their answers are measured but not logged. */
const UNLOGGED_ROUTES: ReadonlySet<string | undefined> = new Set(['/health/live', '/health/ready', '/metrics']);
const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a log line says about a user: the first 16 hex digits of the SHA-256 of the user's id, so that logs name nobody. */
export function hashedUser(userId: string): string {
  return hash('sha256', userId).slice(0, 16);
}

/** Logs the requests whose end the hook of `logRequests` does not see. */
export interface AccessLog {
  /** A write whose client has disconnected before the answer. */
  unread(reply: FastifyReply): void;
  /** A refused request without a route: its path cannot be decoded, or, without a method, its bytes are no request at all. */
  unroutable(refusal: { readonly requestId: string; readonly method?: string; readonly status: number }): void;
}

const noAccessLog: AccessLog = { unread: () => undefined, unroutable: () => undefined };

/**
 * The access log: at the end of each write, refusal (4xx) and error (5xx) one JSON line, and one for each `readsEvery`th of the
 * other reads (0: none). A line has the ids of the path and of the created object, so that all requests about a reservation or an
 * order are found by its id.
 *
 * The line is put together here, for speed. So every value is a number, a hash, a UUID, a constant of ours, or checked to be free of
 * quotes.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger, readsEvery: number): AccessLog {
  const lines = plainLines(logger);
  if (!lines.isEnabled) return noAccessLog;
  /** The constant part of the lines of each route. */
  const routeParts = new Map<string, string>();
  const routePart = (method: string | null, route: string | undefined): string => {
    const key = `${method} ${route}`;
    const known = routeParts.get(key);
    if (known !== undefined) return known;
    const part = `","method":${JSON.stringify(method)},"route":${JSON.stringify(route ?? null)},"status":`;
    routeParts.set(key, part);
    return part;
  };
  let reads = 0;
  const isSampled = (): boolean => {
    if (readsEvery === 0) return false;
    reads = (reads + 1) % readsEvery;
    return reads === 0;
  };
  const log = (reply: FastifyReply, route: string | undefined): void => {
    const { request } = reply;
    const { caller, context, problemCode, logged } = request;
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    let line = `"request_id":"${request.id}${routePart(request.method, route)}${reply.statusCode},"ms":${ms},"user":`;
    line += caller ? `"${hashedUser(caller.userId)}"` : 'null';
    if (problemCode !== undefined) line += `,"code":"${problemCode}"`;
    line += idsOf(request.params);
    const location = reply.getHeader('location');
    if (typeof location === 'string') line += `,"location":${JSON.stringify(location)}`;
    if (context?.trace) line += `,"trace_id":"${context.trace.traceId}"`;
    if (logged) line += `,${JSON.stringify(logged).slice(1, -1)}`;
    lines.write(line, 'request');
  };
  fastify.addHook('onResponse', (request, reply, done) => {
    const { url: route, unlogged } = request.is404 ? {} : rulesOf(request);
    const isRead = reply.statusCode < 400 && READ_METHODS.has(request.method);
    const isUnlogged = UNLOGGED_ROUTES.has(route) || (unlogged && reply.statusCode < 400);
    if (!isUnlogged && (!isRead || isSampled())) log(reply, route);
    done();
  });
  return {
    unread: (reply) => log(reply, rulesOf(reply.request).url),
    unroutable: ({ requestId, method = null, status }) =>
      lines.write(`"request_id":"${requestId}${routePart(method, undefined)}${status},"ms":0,"user":null`, 'request'),
  };
}

/** The path parameters that are ids of objects. Other parameters may be secrets, such as the token of a socket. */
function idsOf(params: unknown): string {
  let ids = '';
  for (const name in params as Record<string, string>) {
    const value = (params as Record<string, string>)[name];
    if (value?.length === 36 && UUID.test(value)) ids += `${ids && ','}"${name}":"${value}"`;
  }
  return ids && `,"ids":{${ids}}`;
}
