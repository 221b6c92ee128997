import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { ErrorCode } from '#contracts/error-catalogue';
import { hasInternalAuth } from '../http/access-hook.ts';
import { rulesOf } from '../http/route-rules.ts';
import { RequestRefused } from '../http/request-refused.ts';
import { limitedAddress, limitedNetwork, NETWORK_LIMIT_FACTOR } from './client-address.ts';
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

/** Files of the page and documents of the API: a page loads several at once, and they cost little. They are counted apart. */
const STATIC = { subject: 'files:', factor: 10 };
const DYNAMIC = { subject: '', factor: 1 };

/**
 * Counts each request against the limit of its address, before the body is read. Not counted (CONTRACT §9): preflights, unknown
 * paths, routes with `noAddressLimit`, and calls of our own services. Of static files an address may read ten times as many.
 */
export function limitByAddress(limiter: RateLimiter, internalSecrets: readonly string[]) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void | Promise<void> => {
    const { access, noAddressLimit, isStatic } = rulesOf(request);
    if (limiter.isOff || request.is404 || request.method === 'OPTIONS' || noAddressLimit) return done();
    if (hasInternalAuth(request, internalSecrets)) return done();
    // Routes of libraries, which serve files and documents, declare no access.
    const { subject, factor } = isStatic || access === undefined ? STATIC : DYNAMIC;
    const network = limitedNetwork(request.ip);
    const ofAddress = limiter.take(subject + limitedAddress(request.ip), factor);
    if (network === undefined) return ofAddress.then((result) => applyResult(request, reply, result, 'from this address'));
    const ofNetwork = limiter.take(subject + network, factor * NETWORK_LIMIT_FACTOR);
    return Promise.all([ofAddress, ofNetwork]).then((results) => applyBoth(request, reply, results));
  };
}

/** A request that one of the two limits refuses does not count for the other. */
async function applyBoth(
  request: FastifyRequest,
  reply: FastifyReply,
  [ofAddress, ofNetwork]: readonly [CountedRequest, CountedRequest],
): Promise<void> {
  if (!ofNetwork.allowed && ofAddress.allowed) await ofAddress.giveBack();
  if (!ofAddress.allowed && ofNetwork.allowed) await ofNetwork.giveBack();
  applyResult(request, reply, ofAddress, 'from this address');
  applyResult(request, reply, ofNetwork, 'from this network');
}

/** Error codes of refusals that do not count against a fan's limits: the fan did not cause them, or a limit refused already. */
const NOT_COUNTED: ReadonlySet<ErrorCode> = new Set(['SEATS_BUSY', 'IDEMPOTENCY_KEY_IN_USE', 'RATE_LIMITED', 'HOLD_COOLDOWN']);

/** The limits of each fan. */
export interface FanLimits {
  /** For routes with `fanLimit`: holds, checkouts, transfers. */
  readonly purchases: RateLimiter;
  /** For routes with `writeLimit`: profile, devices, claims of invitations, answers to transfers. */
  readonly writes: RateLimiter;
}

/**
 * Counts the purchases and the other writes of each fan against the fan's limits. It runs after the idempotency hook, so a replayed
 * answer does not count. That hook forgets the key of a refused request, so a fan cannot fill Redis with keys.
 */
export function limitByFan(fastify: FastifyInstance, { purchases, writes }: FanLimits): void {
  fastify.addHook('preValidation', (request, reply, done) => {
    const { fanLimit, writeLimit } = rulesOf(request);
    const limiter = fanLimit ? purchases : writeLimit ? writes : undefined;
    if (!limiter || limiter.isOff || !request.caller || reply.sent) return done();
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
