import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { ErrorCode } from '../http/error-catalogue.ts';
import { hasInternalAuth } from '../http/access-hook.ts';
import { rulesOf } from '../http/route-rules.ts';
import { RequestRefused } from '../http/request-refused.ts';
import { limitedAddress } from './client-address.ts';
import type { RateLimiter, Taken } from './rate-limiter.ts';
import type { Allowance } from './sliding-window.ts';

declare module 'fastify' {
  interface FastifyRequest {
    allowance?: Allowance;
    fanAllowance?: Taken;
  }
}

/** The headers speak of the limit that is nearer. */
function show(request: FastifyRequest, reply: FastifyReply, taken: Allowance): void {
  if (request.allowance && request.allowance.remaining <= taken.remaining && taken.allowed) return;
  request.allowance = taken;
  void reply.headers({
    'ratelimit-limit': String(taken.limit),
    'ratelimit-remaining': String(taken.remaining),
    'ratelimit-reset': String(taken.resetSeconds),
  });
}

function refuse(taken: Allowance, whose: string): RequestRefused {
  return new RequestRefused('RATE_LIMITED', {
    detail: `More than ${taken.limit} requests a minute ${whose}.`,
    headers: { 'retry-after': String(taken.resetSeconds) },
  });
}

/** Everything an address sends counts, but for what the contract excepts; before the body is read. */
export function limitByAddress(limiter: RateLimiter, internalSecret: string) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void | Promise<void> => {
    const { access, noAddressLimit } = rulesOf(request);
    if (limiter.isOff || request.is404 || request.method === 'OPTIONS' || noAddressLimit) return done();
    if (access === undefined || hasInternalAuth(request, internalSecret)) return done();
    return limiter.take(limitedAddress(request.ip)).then((taken) => {
      show(request, reply, taken);
      if (!taken.allowed) throw refuse(taken, 'from this address');
    });
  };
}

/** Not the fan's doing: these do not count against the ten a minute. */
const NOT_COUNTED: ReadonlySet<ErrorCode> = new Set(['SEATS_BUSY', 'IDEMPOTENCY_KEY_IN_USE', 'RATE_LIMITED']);

/** Purchases of one fan, after the idempotency key was looked up: a replay costs nothing. */
export function limitByFan(fastify: FastifyInstance, limiter: RateLimiter): void {
  if (limiter.isOff) return;
  fastify.addHook('preValidation', (request, reply, done) => {
    if (!rulesOf(request).fanLimit || !request.caller || reply.sent) return done();
    return limiter.take(request.caller.userId).then((taken) => {
      show(request, reply, taken);
      if (!taken.allowed) throw refuse(taken, 'for one fan');
      request.fanAllowance = taken;
    });
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { fanAllowance, problemCode } = request;
    if (!fanAllowance) return done(null, payload);
    const replayed = reply.hasHeader('idempotency-replayed');
    if (!replayed && reply.statusCode < 500 && !(problemCode && NOT_COUNTED.has(problemCode))) return done(null, payload);
    request.fanAllowance = undefined;
    return fanAllowance.giveBack().then(() => payload);
  });
}
