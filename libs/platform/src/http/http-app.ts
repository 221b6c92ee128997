import { isForOperators } from '#contracts/roles';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify';
import { readableForwardedFor } from '../limits/client-address.ts';
import { nestLog, type Logger } from '../logging/logger.ts';
import { requestContext, type RequestContext } from '../logging/request-context.ts';
import { SlotList } from '../slot-list.ts';
import { startRequestSpan, type RequestSpan } from '../tracing/spans.ts';
import { nextHop, parseTraceparent, type TracePosition } from '../tracing/traceparent.ts';
import { logRequests } from './access-log.ts';
import { guardAccess, requireDeclaredAccess } from './access-hook.ts';
import { registerBodyParsers } from './body-parsers.ts';
import { answerCors } from './cors.ts';
import { callDirectly } from './direct-handler.ts';
import { compressSharedAnswers } from './compression.ts';
import { checkInput } from './input-fields.ts';
import type { IdentifyCaller } from './identity.ts';
import { addPageHeaders, isPage, securePages } from './page-headers.ts';
import { answerProblem, ProblemFilter } from './problem.filter.ts';
import { RequestRefused } from './request-refused.ts';
import { answerInTurn } from './answers-in-turn.ts';
import { answerUnparsable, closeConnectionsWhenIdle, connectionLimits, refuseAmbiguousRequests } from './raw-connection.ts';
import { disconnectClientsThatDoNotRead } from './unread-answers.ts';
import { writeLargeAnswersInPieces } from './large-answers.ts';
import { rulesOf } from './route-rules.ts';
import { keepRouteTable } from './route-table.ts';

declare module 'fastify' {
  interface FastifyRequest {
    context?: RequestContext;
    /** Only while an OpenTelemetry SDK is registered. */
    span?: RequestSpan;
    /**
     * For a running write: when it must be answered at the latest (`at`), and its index in the list of running writes (`slot`).
     */
    overdue?: { readonly at: number; readonly slot: number } | undefined;
  }
}

const BODY_LIMIT_BYTES = 16 * 1024;
/** Limit for routes of operators, internal calls and webhooks, for example to create a match with 200 sectors. */
const LARGE_BODY_LIMIT_BYTES = 256 * 1024;
/** Limit for routes that take lists of places or people, for example 50,000 seat ids. */
const LIST_BODY_LIMIT_BYTES = 2 * 1024 * 1024;
/**
 * A write is overdue after 1.05 times the deadline of a request. Transactions end at the deadline by themselves, so only writes
 * that hang become overdue.
 */
const OVERDUE_FACTOR = 1.05;
const OVERDUE_CHECK_INTERVAL_MS = 250;

const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'Origin',
};

/** What differs between the HTTP apps of the services. */
export interface HttpAppOptions {
  readonly logger: Logger;
  readonly identify: IdentifyCaller;
  /** All secrets that calls of our own services may send. */
  readonly internalSecrets: readonly string[];
  readonly trustedProxies: readonly string[];
  /** The address at which browsers reach this service, if they do. */
  readonly publicUrl?: string;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly requestDeadlineMs: number;
  /** One of this many successful reads is logged; 0 or unset: none. Writes, refusals and errors are always logged. */
  readonly logReadsEvery?: number;
  /**
   * Path prefixes of the public routes that plugins register (static files, API docs). These routes do not declare who may call
   * them.
   */
  readonly publicPrefixes?: readonly string[];
  /** The hook that limits requests by client address. It runs before the body is read. */
  readonly limitAddress?: (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void | Promise<void>;
  /** Registers further hooks of the app, which run after the access check. */
  readonly afterAccess?: (fastify: FastifyInstance) => void;
}

/**
 * Creates a Nest application on Fastify. Its hooks check each request by the rules of CONTRACT §2–§4, in the order that §3 gives.
 */
export async function createHttpApp(module: Type | DynamicModule, options: HttpAppOptions): Promise<NestFastifyApplication> {
  const secure = securePages(options.publicUrl);
  const adapter = new FastifyAdapter({
    logger: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    bodyLimit: BODY_LIMIT_BYTES,
    ...connectionLimits,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 128, caseSensitive: true },
    genReqId: ({ headers: { 'x-request-id': given } }: { headers: Record<string, unknown> }) =>
      typeof given === 'string' && /^[\w-]{1,64}$/.test(given) ? given : randomUUID(),
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      void reply.headers({ 'x-request-id': request.id, ...commonHeaders });
      if (isPage(request, reply)) secure(request, reply);
      answerProblem(error, request, reply, options.logger);
      accessLog.unroutable({ requestId: request.id, method: request.method, status: reply.statusCode });
    },
    clientErrorHandler: (error: { readonly code?: string }, socket: Socket) =>
      answerUnparsable(error, socket, (requestId, status) => accessLog.unroutable({ requestId, status })),
  } as ConstructorParameters<typeof FastifyAdapter>[0]) as unknown as FastifyAdapter;
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    logger: nestLog(options.logger),
    abortOnError: false,
  });
  const fastify = adapter.getInstance();
  keepRouteTable(fastify);
  const accessLog = logRequests(fastify, options.logger, options.logReadsEvery ?? 0);
  registerBodyParsers(fastify);
  setBodyLimits(fastify);
  const answers = answerInTurn(fastify);
  closeConnectionsWhenIdle(fastify, answers);
  disconnectClientsThatDoNotRead(fastify, answers);
  answerOverdueWrites(fastify, Math.ceil(options.requestDeadlineMs * OVERDUE_FACTOR), (reply) => accessLog.unread(reply));
  requireDeclaredAccess(fastify, options.publicPrefixes ?? []);
  compressSharedAnswers(fastify);
  writeLargeAnswersInPieces(fastify);
  addRequestContext(adapter, fastify, options);
  refuseAmbiguousRequests(fastify);
  addPageHeaders(fastify, secure);
  answerCors(fastify, options.isAllowedOrigin);
  refuseUnknownPaths(fastify);
  if (options.limitAddress) fastify.addHook('onRequest', options.limitAddress);
  guardAccess(fastify, options);
  options.afterAccess?.(fastify);
  refuseUnstorablePaths(fastify);
  checkInput(fastify);
  callDirectly(app, fastify);

  app.useGlobalFilters(new ProblemFilter(options.logger));
  return app;
}

function setBodyLimits(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.takesLists) route.bodyLimit = LIST_BODY_LIMIT_BYTES;
    else if (isForOperators(route.config?.access) || route.config?.access === 'internal' || route.config?.body === 'raw')
      route.bodyLimit = LARGE_BODY_LIMIT_BYTES;
  });
}

/**
 * Answers a write that hangs with OUTCOME_UNKNOWN; the transaction of the write ends by itself. Reads are excluded, because a
 * read may be an endless stream. One timer checks all writes four times a second. Fastify's own timeout uses a timer and an
 * AbortController for each request, which took 12 µs of the 280 µs of a hold. The timer also finds the writes whose client has
 * disconnected: no hook runs at their end.
 */
function answerOverdueWrites(fastify: FastifyInstance, timeoutMs: number, whenUnread: (reply: FastifyReply) => void): void {
  const writes = new SlotList<FastifyReply>();
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      request.overdue = { at: Date.now() + timeoutMs, slot: writes.add(reply) };
    done();
  });
  const forget = (request: FastifyRequest): void => {
    if (!request.overdue) return;
    writes.remove(request.overdue.slot);
    request.overdue = undefined;
  };
  fastify.addHook('onResponse', (request, _reply, done) => {
    forget(request);
    done();
  });
  const check = (): void => {
    const now = Date.now();
    for (const reply of writes) {
      const { request } = reply;
      if (!request.overdue) continue;
      const { at, slot } = request.overdue;
      if (reply.sent && reply.raw.destroyed) {
        forget(request);
        whenUnread(reply);
      } else if (at <= now) {
        // The write is answered only once, even if sending the answer takes long.
        request.overdue = { at: Number.POSITIVE_INFINITY, slot };
        if (!reply.sent) void reply.send(new RequestRefused('OUTCOME_UNKNOWN'));
      }
    }
  };
  const timer = setInterval(check, OVERDUE_CHECK_INTERVAL_MS);
  timer.unref();
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(timer);
    check();
    done();
  });
}

/** Refuses writes to unknown paths before their body is read. Unknown GET paths go on: the web app may serve a page for them. */
function refuseUnknownPaths(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.is404 && request.method !== 'GET' && request.method !== 'HEAD') done(new RequestRefused('NOT_FOUND'));
    else done();
  });
}

/** Refuses a path or query with a NUL character, because PostgreSQL cannot store or compare it. */
function refuseUnstorablePaths(fastify: FastifyInstance): void {
  fastify.addHook('preValidation', (request, _reply, done) => {
    if (request.url.includes('%00')) done(new RequestRefused('VALIDATION_FAILED', { detail: 'The path contains a NUL.' }));
    else done();
  });
}

/**
 * Creates the context of each request (request id, deadline, trace) and enters it twice: at the start of the request, and again after
 * the body was read, because the socket events of the body lose the async context. The adapter's own hook runs before all other
 * hooks, so preflight answers get the common headers, too.
 */
function addRequestContext(
  adapter: FastifyAdapter,
  fastify: FastifyInstance,
  { requestDeadlineMs, trustedProxies }: Pick<HttpAppOptions, 'requestDeadlineMs' | 'trustedProxies'>,
): void {
  adapter.setOnRequestHook((request: FastifyRequest, reply: FastifyReply, done) => {
    if (trustedProxies.length > 0) keepReadableAddresses(request);
    const { traceparent } = request.headers;
    const caller = traceparent === undefined ? undefined : parseTraceparent(traceparent);
    const trace = beginSpan(request, reply, caller)?.position ?? (caller && nextHop(caller));
    request.context = { requestId: request.id, deadlineAt: Date.now() + requestDeadlineMs, trace };
    void reply.headers({ 'x-request-id': request.id, ...commonHeaders });
    enterContext(request, done);
  });
  fastify.addHook('preValidation', (request, _reply, done) => enterContext(request, done));
}

/** Fastify's `request.ip` takes any text in X-Forwarded-For as an address, so each text would have its own limit. */
function keepReadableAddresses({ headers }: FastifyRequest): void {
  const forwardedFor = headers['x-forwarded-for'];
  if (typeof forwardedFor === 'string') headers['x-forwarded-for'] = readableForwardedFor(forwardedFor);
}

function enterContext({ context, span }: FastifyRequest, done: () => void): void {
  if (!context) done();
  else if (span) span.run(() => requestContext.run(context, done));
  else requestContext.run(context, done);
}

function beginSpan(request: FastifyRequest, reply: FastifyReply, caller: TracePosition | undefined): RequestSpan | undefined {
  const route = request.is404 ? undefined : rulesOf(request).url;
  const span = startRequestSpan(request.method, route, request.id, caller);
  if (!span) return undefined;
  request.span = span;
  // Node emits `close` also when the client has disconnected and the answer is never finished.
  reply.raw.once('close', () => span.end(reply.statusCode));
  return span;
}
