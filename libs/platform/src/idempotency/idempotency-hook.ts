import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mustHaveKey } from '../http/endpoint.ts';
import { rulesOf } from '../http/route-rules.ts';
import type { ErrorCode } from '#contracts/error-catalogue';
import { RequestRefused } from '../http/request-refused.ts';
import type { Logger } from '../logging/logger.ts';
import type { RequestKey, StoredAnswer } from '../logging/request-context.ts';
import type { AnswerSeal } from './answer-seal.ts';
import { send } from './answers.ts';
import type { IdempotencyCache, KeyClaim, KeyLock } from './idempotency-cache.ts';
import type { IdempotencyRows } from './idempotency-rows.ts';
import { fingerprintOf, isIdempotencyKey } from './request-fingerprint.ts';

/**
 * HTTP status of lasting refusals: a repeated key gets the same refusal from Redis. Refused requests had no effect, so they have
 * no idempotency row.
 */
const LASTING_STATUS = new Set([404, 409, 410]);
/** Error codes of passing refusals: they are not stored. The same key may be sent again, and the request may then succeed. */
const PASSING_CODES: ReadonlySet<ErrorCode> = new Set([
  'SEATS_BUSY',
  'ALL_SEATS_HELD',
  'SEATS_UNAVAILABLE',
  'SOLD_OUT',
  'SALE_NOT_OPEN',
  'QUEUE_CLOSED',
  'QUOTA_EXCEEDED',
  'INVITATION_CLAIMED',
  'IDEMPOTENCY_KEY_IN_USE',
]);

/** The idempotency key of the request that is running. */
interface CurrentKey {
  readonly requestKey: RequestKey;
  /** The lock of the key in Redis; undefined if this request does not have it. */
  readonly lock: KeyLock | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    currentKey?: CurrentKey;
  }
}

interface Dependencies {
  readonly cache: IdempotencyCache;
  readonly rows: IdempotencyRows;
  readonly seal: AnswerSeal;
  readonly logger: Logger;
}

/**
 * Idempotency (CONTRACT §4) for every route that changes something. Before the handler, a hook replays the stored answer or
 * claims the key. When the answer is sent, a second hook stores the outcome. Both hooks are chains of `then`: under peak load
 * async functions here caused a tenth of the garbage of a request.
 */
export function guardIdempotency(fastify: FastifyInstance, parts: Dependencies): void {
  fastify.addHook('preValidation', (request, reply, done) => {
    const rules = rulesOf(request);
    const isNeeded = !request.is404 && mustHaveKey(request.method, rules);
    if (!isNeeded || !request.caller || !request.context) return done();
    const key = keyOf(request);
    const { userId } = request.caller;
    const path = rules.csv ? request.url : (request.url.split('?')[0] ?? '');
    const fingerprint = fingerprintOf({ userId, method: request.method, path, body: request.body });
    const requestKey: RequestKey = { key, userId, fingerprint };
    request.context.requestKey = requestKey;
    request.currentKey = { requestKey, lock: undefined };
    const continueOrReplay = (first: StoredAnswer | undefined): void => {
      if (!first) return done();
      requestKey.stored = first;
      send(reply.header('idempotency-replayed', 'true'), parts.seal.open(first));
    };
    const withoutRedis = (error: unknown): KeyClaim => {
      parts.logger.warn({ err: error }, 'idempotency without Redis: only the row in PostgreSQL decides');
      return { isUnknown: true };
    };
    parts.cache
      .claim(key, fingerprint)
      .catch(withoutRedis)
      .then((claim) => firstAnswer(request, requestKey, claim, parts))
      .then(continueOrReplay, done);
  });

  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { currentKey } = request;
    if (!currentKey) return done(null, payload);
    request.currentKey = undefined;
    return storeOutcome(reply, payload, currentKey, parts).then(() => payload);
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

/** Returns the answer of the first request with this key, or undefined if this request may run. */
function firstAnswer(
  request: FastifyRequest,
  requestKey: RequestKey,
  { lock, known, isUnknown }: KeyClaim,
  { rows }: Dependencies,
): StoredAnswer | undefined | Promise<StoredAnswer | undefined> {
  if (known) mustBeSameRequest(known, requestKey);
  if (known?.answer) return known.answer;
  const { keyWithEffect } = rulesOf(request);
  if (lock) request.currentKey = { requestKey, lock };
  // With `keyWithEffect` the idempotency row is not read before a request that may run. If the key was used, the transaction of
  // the effect fails when it inserts the row.
  if (keyWithEffect && (lock ?? isUnknown)) return undefined;
  // The row may have an answer that Redis lacks: the process of the first request may have stopped between the effect and its
  // command to Redis.
  return rows.read(requestKey.key).then((row) => {
    if (!row && !lock && !isUnknown) throw new RequestRefused('IDEMPOTENCY_KEY_IN_USE');
    if (row) mustBeSameRequest(row, requestKey);
    return row?.made && keyWithEffect ? undefined : row?.answer;
  });
}

function mustBeSameRequest(first: { readonly fingerprint: string }, requestKey: RequestKey): void {
  if (first.fingerprint !== requestKey.fingerprint) throw new RequestRefused('IDEMPOTENCY_KEY_REUSED');
}

/**
 * Stores a success or a lasting refusal under the key, and forgets the key after any other refusal. Only the holder of the lock
 * updates Redis; the idempotency row needs no lock. The answer is sent without waiting for Redis' reply: if Redis loses a
 * success, the row still has it.
 */
function storeOutcome(
  reply: FastifyReply,
  payload: unknown,
  { requestKey, lock }: CurrentKey,
  { cache, rows, logger }: Dependencies,
): Promise<unknown> {
  const status = reply.statusCode;
  const answer = requestKey.stored ?? answerOf(reply, payload);
  const success = status >= 200 && status < 300;
  const { problemCode } = reply.request;
  const lasting = LASTING_STATUS.has(status) && problemCode && !PASSING_CODES.has(problemCode);
  const logRedisError = (error: unknown): void => logger.warn({ err: error }, 'storing an idempotent answer in Redis failed');
  const updateRedis = (): Promise<unknown> => {
    if (!lock) return Promise.resolve();
    return success || lasting
      ? cache.complete(lock, { fingerprint: requestKey.fingerprint, answer }, logRedisError)
      : cache.forget(lock, logRedisError);
  };
  if (!success || requestKey.stored) return updateRedis();
  return rows
    .add(requestKey, answer)
    .catch((error: unknown) => logger.warn({ err: error }, 'storing an idempotent answer in PostgreSQL failed'))
    .then(updateRedis);
}

function answerOf(reply: FastifyReply, payload: unknown): StoredAnswer {
  const location = reply.getHeader('location');
  const body = typeof payload === 'string' ? payload : '';
  return { status: reply.statusCode, body, ...(typeof location === 'string' ? { location } : {}) };
}
