import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { createTestHttpApp, INTERNAL_SECRET, silentLogger } from '#testing/test-http-app';
import { Body, Controller, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { IdempotencyCache } from '../idempotency/idempotency-cache.ts';
import { guardIdempotency } from '../idempotency/idempotency-hook.ts';
import { IdempotencyRows } from '../idempotency/idempotency-rows.ts';
import { limitByAddress, limitByFan } from '../limits/limit-hooks.ts';
import { RateLimiter } from '../limits/rate-limiter.ts';
import { openDatabase } from '../postgres/database.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { Endpoint } from './endpoint.ts';
import { RequestRefused } from './request-refused.ts';
import { AnswerSeal } from '../idempotency/answer-seal.ts';

const seal = new AnswerSeal(['a secret of the test']);

const thing = z.strictObject({ name: z.string() });

@Controller()
class ThingsController {
  @Post('things')
  @Endpoint({ access: 'ops', fanLimit: true })
  create(@Body({ schema: thing }) _body: unknown): never {
    throw new RequestRefused('NOT_FOUND', { detail: 'The object.' });
  }
}

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let database: DataSource;
let redis: RedisConnection;
let app: NestFastifyApplication;

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  database = await openDatabase({ url: testDatabase.url, name: 'order-test', poolSize: 2 });
  redis = connectRedis(testRedis.url, { name: 'order-test' });
  await whenReady(redis);
  const rows = new IdempotencyRows(database);
  app = await createTestHttpApp(
    { controllers: [ThingsController] },
    {
      limitAddress: limitByAddress(new RateLimiter(redis, 'rate_limit:global', 200), [INTERNAL_SECRET]),
      afterAccess: (fastify) => {
        guardIdempotency(fastify, { cache: new IdempotencyCache(redis), rows, seal, logger: silentLogger });
        limitByFan(fastify, {
          purchases: new RateLimiter(redis, 'rate_limit:user', 100),
          writes: new RateLimiter(redis, 'rate_limit:writes', 100),
        });
      },
    },
  );
  const exhaust = async (prefix: string, subject: string, limit: number): Promise<void> => {
    const limiter = new RateLimiter(redis, prefix, limit);
    for (let taken = 0; taken < limit; taken += 1) await limiter.take(subject);
  };
  await Promise.all([exhaust('rate_limit:global', EXHAUSTED_ADDRESS, 200), exhaust('rate_limit:user', EXHAUSTED_FAN, 100)]);
});

afterAll(async () => {
  await app.close();
  await closeRedis(redis);
  await database.destroy();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

const FAN = '0190a000-0000-7000-8000-00000000000a';
const EXHAUSTED_FAN = '0190a000-0000-7000-8000-00000000000b';
const EXHAUSTED_ADDRESS = '198.51.100.7';

interface Sent {
  url: string;
  remoteAddress: string;
  payload: string;
  headers: Record<string, string | undefined>;
}

const validRequest = (): Sent => ({
  url: '/things',
  remoteAddress: '203.0.113.1',
  payload: '{"name":"a"}',
  headers: {
    'content-type': 'application/json',
    'x-mock-user-id': FAN,
    'x-mock-roles': 'ops',
    'idempotency-key': randomUUID().replaceAll('-', ''),
  },
});

interface Fault {
  name: string;
  expected: string;
  breakRequest(sent: Sent): void;
}

/**
 * Faults of a request, in the order in which CONTRACT §3 checks them. The faults of one inner list are found by the same check.
 */
const steps: Fault[][] = [
  [{ name: 'unknown path', expected: 'NOT_FOUND Not found', breakRequest: (sent) => void (sent.url = '/nothing') }],
  [
    {
      name: 'address over its rate limit',
      expected: 'RATE_LIMITED',
      breakRequest: (sent) => void (sent.remoteAddress = EXHAUSTED_ADDRESS),
    },
  ],
  [
    {
      name: 'unsupported media type',
      expected: 'UNSUPPORTED_MEDIA_TYPE',
      breakRequest: ({ headers }) => void (headers['content-type'] = 'text/plain'),
    },
    {
      name: 'body too large',
      expected: 'PAYLOAD_TOO_LARGE',
      breakRequest: (sent) => void (sent.payload = `["${'x'.repeat(300_000)}"]`),
    },
    {
      name: 'malformed JSON',
      expected: 'VALIDATION_FAILED The request could not be read',
      breakRequest: (sent) => void (sent.payload = '{"name"'),
    },
  ],
  [
    {
      name: 'no caller',
      expected: 'UNAUTHENTICATED',
      breakRequest: ({ headers }) => void (headers['x-mock-user-id'] = undefined),
    },
  ],
  [{ name: 'missing role', expected: 'FORBIDDEN', breakRequest: ({ headers }) => void (headers['x-mock-roles'] = undefined) }],
  [
    {
      name: 'missing idempotency key',
      expected: 'IDEMPOTENCY_KEY_REQUIRED',
      breakRequest: ({ headers }) => void (headers['idempotency-key'] = undefined),
    },
    {
      name: 'invalid idempotency key',
      expected: 'IDEMPOTENCY_KEY_INVALID',
      breakRequest: ({ headers }) => void (headers['idempotency-key'] = 'x'),
    },
  ],
  [
    {
      name: 'fan over the rate limit',
      expected: 'RATE_LIMITED',
      breakRequest: ({ headers }) => void (headers['x-mock-user-id'] = EXHAUSTED_FAN),
    },
  ],
  [
    {
      name: 'invalid fields',
      expected: 'VALIDATION_FAILED The request is malformed',
      breakRequest: (sent) => void (sent.payload = '{"name":7}'),
    },
  ],
  [{ name: 'unknown object', expected: 'NOT_FOUND The object', breakRequest: () => undefined }],
];

const pairs = steps.flatMap((step, index) =>
  step.flatMap((earlier) =>
    steps
      .slice(index + 1)
      .flat()
      .map((later) => [earlier, later] as const),
  ),
);

test.each(pairs.map(([earlier, later]) => ({ earlier, later, first: earlier.name, second: later.name })))(
  'order of checks: a request with the faults "$first" and "$second" is refused for the former',
  async ({ earlier, later }) => {
    const sent = validRequest();
    later.breakRequest(sent);
    earlier.breakRequest(sent);
    const headers = Object.fromEntries(Object.entries(sent.headers).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >;
    const answer = await app.inject({ method: 'POST', ...sent, headers });
    const { code, detail } = answer.json<{ code: string; detail: string }>();
    expect(`${code} ${detail}`).toContain(earlier.expected);
    if (code !== 'RATE_LIMITED') return;
    expect(detail).toContain(earlier.name.startsWith('address') ? 'from this address' : 'for one fan');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  },
);
