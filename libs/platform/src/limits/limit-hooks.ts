import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { ErrorCode } from '#contracts/error-catalogue';
import { hasInternalAuth } from '../http/access-hook.ts';
import { rulesOf } from '../http/route-rules.ts';
import { RequestRefused } from '../http/request-refused.ts';
import { limitedAddress } from './client-address.ts';
import type { RateLimiter, CountedRequest } from './rate-limiter.ts';
import type { RateLimitResult } from './sliding-window.ts';

declare module 'fastify' {
  interface FastifyRequest {
    shownLimit?: RateLimitResult;
    fanLimitResult?: CountedRequest;
  }
}

/**
 * Sets the RateLimit headers, and throws if the limit is exceeded. If two limits apply, the headers describe the exceeded limit,
 * or the limit with fewer requests left.
 */
function applyResult(request: FastifyRequest, reply: FastifyReply, result: RateLimitResult, whose: string): void {
  const { allowed, limit, remaining } = result;
  if (request.shownLimit && request.shownLimit.remaining <= remaining && allowed) return;
  request.shownLimit = result;
  const reset = String(result.resetSeconds);
  void reply.headers({ 'ratelimit-limit': String(limit), 'ratelimit-remaining': String(remaining), 'ratelimit-reset': reset });
  if (allowed) return;
  const detail = `More than ${limit} requests a minute ${whose}.`;
  throw new RequestRefused('RATE_LIMITED', { detail, headers: { 'retry-after': reset } });
}

/**
 * Counts each request against the limit of its address, before the body is read. Not counted (CONTRACT §9): preflights, unknown
 * paths, static files, routes with `noAddressLimit`, and calls of our own services.
 */
export function limitByAddress(limiter: RateLimiter, internalSecrets: readonly string[]) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void | Promise<void> => {
    const { access, noAddressLimit } = rulesOf(request);
    if (limiter.isOff || request.is404 || request.method === 'OPTIONS' || noAddressLimit) return done();
    if (access === undefined || hasInternalAuth(request, internalSecrets)) return done();
    return limiter.take(limitedAddress(request.ip)).then((result) => applyResult(request, reply, result, 'from this address'));
  };
}

/** Error codes of refusals that the fan did not cause. Such requests do not count against the fan's ten requests a minute. */
const NOT_COUNTED: ReadonlySet<ErrorCode> = new Set(['SEATS_BUSY', 'IDEMPOTENCY_KEY_IN_USE', 'RATE_LIMITED']);

/**
 * Counts the purchases of each fan against the fan's limit. It runs after the idempotency hook, so a replayed answer does not
 * count.
 */
export function limitByFan(fastify: FastifyInstance, limiter: RateLimiter): void {
  if (limiter.isOff) return;
  fastify.addHook('preValidation', (request, reply, done) => {
    if (!rulesOf(request).fanLimit || !request.caller || reply.sent) return done();
    return limiter.take(request.caller.userId).then((result) => {
      applyResult(request, reply, result, 'for one fan');
      request.fanLimitResult = result;
    });
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { fanLimitResult, problemCode } = request;
    if (!fanLimitResult) return done(null, payload);
    const replayed = reply.hasHeader('idempotency-replayed');
    if (!replayed && reply.statusCode < 500 && !(problemCode && NOT_COUNTED.has(problemCode))) return done(null, payload);
    request.fanLimitResult = undefined;
    return fanLimitResult.giveBack().then(() => payload);
  });
}
