import { randomUUID } from 'node:crypto';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify';
import { NestLog, type Logger } from '../logging/logger.ts';
import { requestContext, type RequestContext } from '../logging/request-context.ts';
import { guardAccess, requireDeclaredAccess } from './access-hook.ts';
import { registerBodyParsers } from './body-parsers.ts';
import { checkInput } from './checked-input.ts';
import { welcomePages } from './cors.ts';
import { callDirectly } from './direct-handler.ts';
import type { IdentifyCaller } from './identity.ts';
import { answerProblem, ProblemFilter } from './problem.filter.ts';
import { RequestRefused } from './request-refused.ts';
import { answerUnparsable, leaveNobodyAtTheEnd, slowClients } from './raw-connection.ts';
import { keepRouteTable } from './route-table.ts';

declare module 'fastify' {
  interface FastifyRequest {
    context?: RequestContext;
    /** When it has to be answered at the latest, and where that is noted. */
    overdue?: { readonly at: number; readonly slot: number };
  }
}

const BODY_LIMIT_BYTES = 16 * 1024;
/** A stadium with 200 sectors, or a provider's webhook. */
const LARGE_BODY_LIMIT_BYTES = 256 * 1024;
/** A transaction ends by its deadline on its own; this is for what hangs beyond it. */
const PAST_DEADLINE = 1.05;
const LOOK_FOR_OVERDUE_MS = 250;

const headersOfEveryAnswer = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'Origin',
};

export interface HttpAppOptions {
  readonly logger: Logger;
  readonly identify: IdentifyCaller;
  readonly internalSecret: string;
  readonly trustedProxies: readonly string[];
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly requestDeadlineMs: number;
  /** Routes that come from plugins (static files, API docs) and are public. */
  readonly publicPrefixes?: readonly string[];
  /** Runs on every matched request before the body is read. */
  readonly limitAddress?: (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void | Promise<void>;
  /** Hooks of this app after access was granted, in their order of running. */
  readonly afterAccess?: (fastify: FastifyInstance) => void;
}

/** A Nest application on Fastify with everything CONTRACT §2–§4 asks of each request, in the order §3 names. */
export async function createHttpApp(module: Type | DynamicModule, options: HttpAppOptions): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    logger: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    bodyLimit: BODY_LIMIT_BYTES,
    ...slowClients,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 128, caseSensitive: true },
    genReqId: (request: { headers: Record<string, unknown> }) =>
      acceptableRequestId(request.headers['x-request-id']) ?? randomUUID(),
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      void reply.headers({ 'x-request-id': request.id, ...headersOfEveryAnswer });
      answerProblem(error, request, reply, options.logger);
    },
    clientErrorHandler: answerUnparsable,
  } as ConstructorParameters<typeof FastifyAdapter>[0]) as unknown as FastifyAdapter;
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    logger: new NestLog(options.logger),
    abortOnError: false,
  });
  const fastify = adapter.getInstance();
  keepRouteTable(fastify);
  registerBodyParsers(fastify);
  boundBodies(fastify);
  leaveNobodyAtTheEnd(fastify);
  answerTheOverdue(fastify, Math.ceil(options.requestDeadlineMs * PAST_DEADLINE));
  requireDeclaredAccess(fastify, options.publicPrefixes ?? []);
  followRequests(adapter, fastify, options.requestDeadlineMs);
  welcomePages(fastify, options.isAllowedOrigin);
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

function acceptableRequestId(given: unknown): string | undefined {
  return typeof given === 'string' && /^[\w-]{1,64}$/.test(given) ? given : undefined;
}

function boundBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.access === 'ops' || route.config?.access === 'internal' || route.config?.body === 'raw')
      route.bodyLimit = LARGE_BODY_LIMIT_BYTES;
  });
}

/**
 * A write that hangs is answered OUTCOME_UNKNOWN; its transaction ends by itself. Reads may be streams without an end. One
 * look at all of them four times a second: the framework's own way, a timer and an AbortController each, aborted at the end
 * of every request, cost 12 µs of the 280 of a hold.
 */
function answerTheOverdue(fastify: FastifyInstance, timeoutMs: number): void {
  // Slots that are used again, not a Map: what leaves a Map stays alive in the tables it has outgrown.
  const writes: (FastifyReply | undefined)[] = [];
  const unused: number[] = [];
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      request.overdue = { at: Date.now() + timeoutMs, slot: unused.pop() ?? writes.length };
      writes[request.overdue.slot] = reply;
    }
    done();
  });
  fastify.addHook('onResponse', ({ overdue }, _reply, done) => {
    if (overdue) {
      writes[overdue.slot] = undefined;
      unused.push(overdue.slot);
    }
    done();
  });
  const timer = setInterval(() => {
    const now = Date.now();
    for (const [slot, reply] of writes.entries()) {
      if (!reply || reply.request.overdue!.at > now) continue;
      // Once, however long this answer takes on its way.
      writes[slot] = undefined;
      if (!reply.sent) void reply.send(new RequestRefused('OUTCOME_UNKNOWN'));
    }
  }, LOOK_FOR_OVERDUE_MS);
  timer.unref();
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(timer);
    done();
  });
}

/** Before anybody reads a body that is for nobody. Unknown pages are left to whoever serves pages. */
function refuseUnknownPaths(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.is404 && request.method !== 'GET' && request.method !== 'HEAD') done(new RequestRefused('NOT_FOUND'));
    else done();
  });
}

/** A NUL in a path or a query is no text PostgreSQL could look for. */
function refuseUnstorablePaths(fastify: FastifyInstance): void {
  fastify.addHook('preValidation', (request, _reply, done) => {
    if (request.url.includes('%00')) done(new RequestRefused('VALIDATION_FAILED', { detail: 'The path contains a NUL.' }));
    else done();
  });
}

/**
 * Gives each request its context twice: reading a body hops through socket events, which do not carry the async context of
 * the first hook. The adapter's own hook is the very first, so that preflights get their headers too.
 */
function followRequests(adapter: FastifyAdapter, fastify: FastifyInstance, requestDeadlineMs: number): void {
  adapter.setOnRequestHook((request: FastifyRequest, reply: FastifyReply, done) => {
    request.context = { requestId: request.id, deadlineAt: Date.now() + requestDeadlineMs };
    void reply.headers({ 'x-request-id': request.id, ...headersOfEveryAnswer });
    requestContext.run(request.context, done);
  });
  fastify.addHook('preValidation', (request, _reply, done) => {
    if (request.context) requestContext.run(request.context, done);
    else done();
  });
}
