import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rulesOf } from '../http/route-rules.ts';
import type { ErrorCode } from '../http/error-catalogue.ts';
import { RequestRefused } from '../http/request-refused.ts';
import type { Logger } from '../logging/logger.ts';
import type { IdempotencyFence, StoredAnswer } from '../logging/request-context.ts';
import type { IdempotencyCache, KeyLock } from './idempotency-cache.ts';
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
  readonly fence: IdempotencyFence;
  readonly lock: KeyLock | undefined;
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

/** CONTRACT §4 around every mutating route: finds or takes the key before the handler, settles it with the answer. */
export function guardIdempotency(fastify: FastifyInstance, parts: Parts): void {
  fastify.addHook('preValidation', (request, reply, done) => {
    if (!needsKey(request) || !request.caller || !request.context) return done();
    const key = keyOf(request);
    const { userId } = request.caller;
    const path = request.url.split('?')[0] ?? '';
    const fingerprint = fingerprintOf({ userId, method: request.method, path, body: request.body });
    const fence: IdempotencyFence = { key, userId, fingerprint };
    request.context.fence = fence;
    return replayFirst({ request, reply }, fence, parts);
  });

  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { keyInHand } = request;
    if (!keyInHand) return done(null, payload);
    request.keyInHand = undefined;
    return settle({ request, reply, payload }, keyInHand, parts).then(() => payload);
  });
}

/** What this key was answered before; without that it is ours to use, and the handler's turn. */
async function replayFirst(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  fence: IdempotencyFence,
  parts: Parts,
): Promise<FastifyReply | undefined> {
  const known = await answerInRedis(request, fence, parts);
  const first = known ?? (rulesOf(request).keyWithEffect ? undefined : await answerInRow(fence, parts));
  if (!first) return undefined;
  fence.stored = first;
  return replay(reply, first);
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

/** The answer Redis knows; without one the key is ours to use. Without Redis, too: then the row alone decides. */
async function answerInRedis(
  request: FastifyRequest,
  fence: IdempotencyFence,
  { cache, logger }: Parts,
): Promise<StoredAnswer | undefined> {
  request.keyInHand = { fence, lock: undefined };
  try {
    const { lock, known } = await cache.claim(fence.key, fence.fingerprint);
    if (known) mustBeSameRequest(known, fence);
    if (known?.answer) return known.answer;
    if (!lock) throw new RequestRefused('IDEMPOTENCY_KEY_IN_USE');
    request.keyInHand = { fence, lock };
    return undefined;
  } catch (error) {
    if (error instanceof RequestRefused) throw error;
    logger.warn({ err: error }, 'idempotency goes on without Redis: the row decides');
    return undefined;
  }
}

async function answerInRow(fence: IdempotencyFence, { rows }: Parts): Promise<StoredAnswer | undefined> {
  const row = await rows.read(fence.key);
  if (row) mustBeSameRequest(row, fence);
  return row?.answer;
}

function mustBeSameRequest(first: { readonly fingerprint: string }, fence: IdempotencyFence): void {
  if (first.fingerprint !== fence.fingerprint) throw new RequestRefused('IDEMPOTENCY_KEY_REUSED');
}

/** The answer decides what becomes of the key. Redis hears it from the holder of the lock alone; the row needs no lock. */
async function settle(
  { request, reply, payload }: { request: FastifyRequest; reply: FastifyReply; payload: unknown },
  { fence, lock }: KeyInHand,
  { cache, rows, logger }: Parts,
): Promise<void> {
  const status = reply.statusCode;
  const location = reply.getHeader('location');
  const body = typeof payload === 'string' ? payload : '';
  const answer: StoredAnswer = fence.stored ?? { status, body, ...(typeof location === 'string' ? { location } : {}) };
  const success = status >= 200 && status < 300;
  const lasting = LASTING_STATUS.has(status) && request.problemCode && !PASSING_CODES.has(request.problemCode);

  if (success && !fence.stored)
    await rows.add(fence, answer).catch((error: unknown) => logger.warn({ err: error }, 'an answer could not be stored'));
  if (!lock) return;
  const told = success || lasting ? cache.complete(fence.key, fence.fingerprint, answer) : cache.forget(fence.key);
  await Promise.all([
    told.catch((error: unknown) => logger.warn({ err: error }, 'an answer could not be told to Redis')),
    lock.release().catch(() => undefined),
  ]);
}
