import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../logging/logger.ts';
import type { IdempotencyFence, StoredAnswer } from '../logging/request-context.ts';
import type { ErrorCode } from '../http/error-catalogue.ts';
import { RequestRefused } from '../http/request-refused.ts';
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
  const { access, noKeyBecause } = request.routeOptions.config;
  return MUTATING.has(request.method) && !request.is404 && !noKeyBecause && access !== undefined && access !== 'internal';
}

/** CONTRACT §4 around every mutating route: finds or takes the key before the handler, settles it with the answer. */
export function guardIdempotency(fastify: FastifyInstance, parts: { cache: IdempotencyCache; rows: IdempotencyRows; logger: Logger }): void {
  const { cache, rows, logger } = parts;
  const withoutRedis = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
    work.catch((error: unknown) => {
      logger.warn({ err: error }, 'idempotency goes on without Redis: the row decides');
      return otherwise;
    });

  fastify.addHook('preValidation', async (request, reply) => {
    if (!needsKey(request) || !request.caller || !request.context) return;
    const key = request.headers['idempotency-key'];
    if (key === undefined || key === '') throw new RequestRefused('IDEMPOTENCY_KEY_REQUIRED', { detail: 'Send an Idempotency-Key header.' });
    if (typeof key !== 'string' || !isIdempotencyKey(key)) {
      throw new RequestRefused('IDEMPOTENCY_KEY_INVALID', { detail: 'The key is a UUID v4 in 32 lowercase hex digits, without hyphens.' });
    }
    const { userId } = request.caller;
    const path = request.url.split('?')[0] ?? '';
    const fingerprint = fingerprintOf({ userId, method: request.method, path, body: request.body });

    const cached = await withoutRedis(cache.read(key), undefined);
    if (cached && cached.fingerprint !== fingerprint) throw new RequestRefused('IDEMPOTENCY_KEY_REUSED');
    if (cached?.answer) return replay(reply, cached.answer);

    const lock = await withoutRedis<KeyLock | undefined | 'no redis'>(cache.lock(key, fingerprint), 'no redis');
    if (lock === undefined) throw new RequestRefused('IDEMPOTENCY_KEY_IN_USE');
    const fence: IdempotencyFence = { key, fingerprint, userId };
    request.keyInHand = { fence, lock: lock === 'no redis' ? undefined : lock };

    const row = await rows.read(key);
    if (row && row.fingerprint !== fingerprint) {
      // What Redis knows about this key is now another request's; the row stays the truth.
      await withoutRedis(cache.forget(key), undefined);
      throw new RequestRefused('IDEMPOTENCY_KEY_REUSED');
    }
    if (row) {
      fence.stored = row.answer;
      return replay(reply, row.answer);
    }
    request.context.fence = fence;
  });

  fastify.addHook('onSend', async (request, reply, payload) => {
    if (request.keyInHand) await settle(request, reply, payload, request.keyInHand, parts, withoutRedis);
    return payload;
  });
}

async function settle(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  { fence, lock }: KeyInHand,
  { cache, rows, logger }: { cache: IdempotencyCache; rows: IdempotencyRows; logger: Logger },
  withoutRedis: <T>(work: Promise<T>, otherwise: T) => Promise<T>,
): Promise<void> {
  request.keyInHand = undefined;
  const status = reply.statusCode;
  const body = typeof payload === 'string' ? payload : '';
  const location = reply.getHeader('location');
  const answer: StoredAnswer = fence.stored ?? { status, body, ...(typeof location === 'string' ? { location } : {}) };

  if (status >= 200 && status < 300) {
    if (!fence.stored) await rows.add(fence, answer).catch((error: unknown) => logger.warn({ err: error }, 'an answer could not be stored'));
    await withoutRedis(cache.complete(fence.key, fence.fingerprint, answer), undefined);
  } else if (LASTING_STATUS.has(status) && request.problemCode && !PASSING_CODES.has(request.problemCode)) {
    await withoutRedis(cache.complete(fence.key, fence.fingerprint, answer), undefined);
  } else if (request.problemCode !== 'IDEMPOTENCY_KEY_REUSED') {
    await withoutRedis(cache.forget(fence.key), undefined);
  }
  if (lock) await withoutRedis(lock.release(), undefined);
}
