import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rulesOf } from '../http/route-rules.ts';
import type { ErrorCode } from '../http/error-catalogue.ts';
import { RequestRefused } from '../http/request-refused.ts';
import type { Logger } from '../logging/logger.ts';
import type { IdempotencyKey, StoredAnswer } from '../logging/request-context.ts';
import type { IdempotencyCache, KeyClaim } from './idempotency-cache.ts';
import type { IdempotencyRows } from './idempotency-rows.ts';
import { fingerprintOf, isIdempotencyKey } from './request-fingerprint.ts';

/** Refusals that stay true: repeated for the same key from Redis. They had no effect, so no row fences them. */
const LASTING_STATUS = new Set([404, 409]);
/** Refusals of the moment: the same key may be sent again and may then succeed. */
const PASSING_CODES: ReadonlySet<ErrorCode> = new Set([
  'SEATS_BUSY',
  'ALL_SEATS_HELD',
  'SEATS_UNAVAILABLE',
  'SOLD_OUT',
  'SALE_NOT_OPEN',
  'QUEUE_CLOSED',
  'IDEMPOTENCY_KEY_IN_USE',
]);

interface KeyInHand {
  readonly fence: IdempotencyKey;
  /** Of the lock in Redis, when it is ours. */
  readonly owner: string | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    keyInHand?: KeyInHand;
  }
}

function replay(reply: FastifyReply, answer: StoredAnswer): FastifyReply {
  void reply.status(answer.status).header('idempotency-replayed', 'true');
  if (answer.location) void reply.header('location', answer.location);
  if (answer.body !== '') void reply.type(answer.status >= 400 ? 'application/problem+json' : 'application/json; charset=utf-8');
  return reply.send(answer.body);
}

const MUTATING = new Set(['POST', 'PUT', 'PATCH']);

export function needsKey(request: FastifyRequest): boolean {
  const { access, noKeyBecause } = rulesOf(request);
  return MUTATING.has(request.method) && !request.is404 && !noKeyBecause && access !== undefined && access !== 'internal';
}

interface Parts {
  readonly cache: IdempotencyCache;
  readonly rows: IdempotencyRows;
  readonly logger: Logger;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * CONTRACT §4 around every mutating route: finds or takes the key before the handler, settles it with the answer. Both hooks are
 * chains of `then`: in a rush, async functions in their place were a tenth of what a request leaves to the garbage collector.
 */
export function guardIdempotency(fastify: FastifyInstance, parts: Parts): void {
  fastify.addHook('preValidation', (request, reply, done) => {
    if (!needsKey(request) || !request.caller || !request.context) return done();
    const key = keyOf(request);
    const { userId } = request.caller;
    const path = request.url.split('?')[0] ?? '';
    const fingerprint = fingerprintOf({ userId, method: request.method, path, body: request.body });
    const fence: IdempotencyKey = { key, userId, fingerprint };
    request.context.fence = fence;
    request.keyInHand = { fence, owner: undefined };
    const goOn = (first: StoredAnswer | undefined): void => {
      if (!first) return done();
      fence.stored = first;
      replay(reply, first);
    };
    const withoutRedis = (error: unknown): KeyClaim => {
      parts.logger.warn({ err: error }, 'idempotency goes on without Redis: the row decides');
      return { isUnknown: true };
    };
    parts.cache
      .claim(key, fingerprint)
      .catch(withoutRedis)
      .then((claim) => firstAnswer(request, fence, claim, parts))
      .then(goOn, done);
  });

  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { keyInHand } = request;
    if (!keyInHand) return done(null, payload);
    request.keyInHand = undefined;
    return settle({ request, reply }, payload, keyInHand, parts).then(() => payload);
  });
}

function keyOf(request: FastifyRequest): string {
  const key = request.headers['idempotency-key'];
  if (key === undefined || key === '')
    throw new RequestRefused('IDEMPOTENCY_KEY_REQUIRED', { detail: 'Send an Idempotency-Key header.' });
  if (typeof key === 'string' && isIdempotencyKey(key)) return key;
  throw new RequestRefused('IDEMPOTENCY_KEY_INVALID', {
    detail: 'The key is a UUID v4 in 32 lowercase hex digits, without hyphens.',
  });
}

/** The answer to an earlier use of the key; without one the key is ours to use. */
function firstAnswer(
  request: FastifyRequest,
  fence: IdempotencyKey,
  { owner, known, isUnknown }: KeyClaim,
  { rows }: Parts,
): StoredAnswer | undefined | Promise<StoredAnswer | undefined> {
  if (known) mustBeSameRequest(known, fence);
  if (known?.answer) return known.answer;
  const { keyWithEffect } = rulesOf(request);
  if (owner) request.keyInHand = { fence, owner };
  // The row that is written with the effect will tell.
  if (keyWithEffect && (owner ?? isUnknown)) return undefined;
  return answerInRow(fence, rows, { isTaken: !owner && !isUnknown, keyWithEffect });
}

/** Whoever has the lock may have ended between its effect and its word to Redis: then there is a row, which is told. */
async function answerInRow(
  fence: IdempotencyKey,
  rows: IdempotencyRows,
  { isTaken, keyWithEffect }: { isTaken: boolean; keyWithEffect: boolean | undefined },
): Promise<StoredAnswer | undefined> {
  const row = await rows.read(fence.key);
  if (!row && isTaken) throw new RequestRefused('IDEMPOTENCY_KEY_IN_USE');
  if (row) mustBeSameRequest(row, fence);
  return row?.made && keyWithEffect ? undefined : row?.answer;
}

function mustBeSameRequest(first: { readonly fingerprint: string }, fence: IdempotencyKey): void {
  if (first.fingerprint !== fence.fingerprint) throw new RequestRefused('IDEMPOTENCY_KEY_REUSED');
}

/**
 * The answer decides what becomes of the key. Redis hears it from the holder of the lock alone; the row needs no lock. What
 * Redis says to it is not waited for: should it not hear, the row still tells what happened.
 */
function settle(
  { request, reply }: Exchange,
  payload: unknown,
  { fence, owner }: KeyInHand,
  { cache, rows, logger }: Parts,
): Promise<unknown> {
  const status = reply.statusCode;
  const answer = fence.stored ?? answerOf(reply, payload);
  const success = status >= 200 && status < 300;
  const lasting = LASTING_STATUS.has(status) && request.problemCode && !PASSING_CODES.has(request.problemCode);
  const failed = (error: unknown): void => logger.warn({ err: error }, 'an answer could not be told to Redis');
  const tell = (): Promise<unknown> => {
    if (!owner) return Promise.resolve();
    return success || lasting
      ? cache.complete(fence.key, owner, { fingerprint: fence.fingerprint, answer }, failed)
      : cache.forget(fence.key, owner, failed);
  };
  if (!success || fence.stored) return tell();
  return rows
    .add(fence, answer)
    .catch((error: unknown) => logger.warn({ err: error }, 'an answer could not be stored'))
    .then(tell);
}

function answerOf(reply: FastifyReply, payload: unknown): StoredAnswer {
  const location = reply.getHeader('location');
  const body = typeof payload === 'string' ? payload : '';
  return { status: reply.statusCode, body, ...(typeof location === 'string' ? { location } : {}) };
}
