import { DomainError, type DomainErrorCode } from '#domain/shared/domain-error';
import { TcpProxy } from '#testing/tcp-proxy';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { createTestHttpApp, silentLogger } from '#testing/test-http-app';
import { Body, Controller, Post, Put, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { Endpoint } from '../http/endpoint.ts';
import { RequestRefused } from '../http/request-refused.ts';
import { openDatabase } from '../postgres/database.ts';
import { PostgresTransactionManager } from '../postgres/transaction-manager.ts';
import { inside } from '../postgres/transaction.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { Answers } from './answers.ts';
import { IdempotencyCache, type KeyLock } from './idempotency-cache.ts';
import { guardIdempotency } from './idempotency-hook.ts';
import { IdempotencyRows } from './idempotency-rows.ts';
import { fingerprintOf } from './request-fingerprint.ts';
import { AnswerSeal } from './answer-seal.ts';

const seal = new AnswerSeal(['a secret of the test']);

const ANA = '0190a000-0000-7000-8000-000000000001';
const IVA = '0190a000-0000-7000-8000-000000000002';
/** Lifetime of the lock of an idempotency key: shorter than the 30 s in production, so that tests can outlive it. */
const LOCK_MS = 240;

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let database: DataSource;
let transactions: PostgresTransactionManager;
let proxy: TcpProxy;
let redis: RedisConnection;
let app: NestFastifyApplication;

/** Runs in every request before its transaction. A test can wait or break something in it. */
let beforeTransaction: () => Promise<unknown> = () => Promise.resolve();
let runs = 0;

const effect = z.strictObject({ name: z.string().max(20), of: z.number().optional() });
type Effect = z.infer<typeof effect>;

@Controller()
class EffectsController {
  constructor(private readonly answers: Answers) {}

  @Post('effects')
  @Endpoint({ access: 'fan' })
  create(@Body({ schema: effect }) { name }: Effect, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(reply, name, 'run');
  }

  @Put('effects')
  @Endpoint({ access: 'fan' })
  replace(@Body({ schema: effect }) { name }: Effect, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(reply, name, 'run');
  }

  @Post('effects-without-row')
  @Endpoint({ access: 'fan' })
  createWithoutRow(@Body({ schema: effect }) { name }: Effect, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(reply, name, 'runStep');
  }

  @Post('refusals')
  @Endpoint({ access: 'fan' })
  async refuse(@Body() { code }: { code: string }): Promise<never> {
    runs += 1;
    await beforeTransaction();
    if (code === 'INTERNAL_ERROR') throw new Error('a defect');
    if (code === 'DEPENDENCY_UNAVAILABLE') throw new RequestRefused(code);
    throw new DomainError(code as DomainErrorCode, `No, for the ${runs}. time.`);
  }

  @Post('nothing')
  @Endpoint({ access: 'fan', status: 200, body: 'none' })
  nothing(): { run: number } {
    return { run: (runs += 1) };
  }

  private answer(reply: FastifyReply, name: string, method: 'run' | 'runStep'): Promise<void> {
    const command = async (): Promise<string> => {
      runs += 1;
      await beforeTransaction();
      return transactions[method](async (tx) => {
        const [row] = await inside(tx).rows<{ id: string }>('insert into effects (name) values ($1) returning id', [name]);
        return row?.id ?? '';
      });
    };
    return this.answers.give(reply, command, (id) => ({ status: 201, body: { id, name }, location: `/effects/${id}` }));
  }
}

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  database = await openDatabase({ url: testDatabase.url, name: 'idempotency-test' });
  await database.query('create table effects (id uuid default gen_random_uuid(), name text)');
  transactions = new PostgresTransactionManager(database, { deadlineMs: 20_000 });
  proxy = await TcpProxy.inFrontOf(testRedis.url);
  redis = connectRedis(proxy.url, { name: 'idempotency-test', commandTimeoutMs: 500 });
  const rows = new IdempotencyRows(database);
  app = await createTestHttpApp(
    { controllers: [EffectsController], providers: [{ provide: Answers, useValue: new Answers(rows, seal) }] },
    {
      afterAccess: (fastify) =>
        guardIdempotency(fastify, { cache: new IdempotencyCache(redis, LOCK_MS), rows, seal, logger: silentLogger }),
    },
  );
});

beforeEach(async () => {
  proxy.restore();
  await whenReady(redis);
  await database.query('truncate effects, idempotency_keys');
  await testRedis.flush();
  beforeTransaction = () => Promise.resolve();
  runs = 0;
});

afterAll(async () => {
  await app.close();
  await database.destroy();
  await closeRedis(redis);
  await proxy.close();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

const newKey = (): string => randomUUID().replaceAll('-', '');

interface Sent {
  method?: 'POST' | 'PUT';
  path?: string;
  as?: string;
  body?: unknown;
}

interface Received {
  status: number;
  body: string;
  code: string | undefined;
  replayed: boolean;
  headers: Record<string, unknown>;
}

async function send(
  key: string | undefined,
  { method = 'POST', path = '/effects', as = ANA, body = { name: 'a' } }: Sent = {},
): Promise<Received> {
  const answer = await app.inject({
    method,
    url: path,
    headers: {
      'x-mock-user-id': as,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const problem = answer.body.startsWith('{') ? (JSON.parse(answer.body) as { code?: string }) : {};
  return {
    status: answer.statusCode,
    body: answer.body,
    code: problem.code,
    replayed: answer.headers['idempotency-replayed'] === 'true',
    headers: answer.headers,
  };
}

async function effects(): Promise<number> {
  const [row] = await database.query<{ count: number }[]>('select count(*)::int as count from effects');
  return row?.count ?? -1;
}

async function loseRedis(): Promise<void> {
  const lost = new Promise((resolve) => redis.once('close', resolve));
  proxy.refuse();
  await lost;
}

/** Returns a function that blocks its callers until `count` of them have arrived. */
function barrierFor(count: number): () => Promise<void> {
  let arrived = 0;
  let open = (): void => undefined;
  const barrier = new Promise<void>((resolve) => (open = resolve));
  return () => {
    if ((arrived += 1) === count) open();
    return barrier;
  };
}

test.each([
  ['no key', undefined, 'IDEMPOTENCY_KEY_REQUIRED'],
  ['an empty key', '', 'IDEMPOTENCY_KEY_REQUIRED'],
  ['capitals', 'A0EEBC999C0B4EF8BB6D6BB9BD380A11', 'IDEMPOTENCY_KEY_INVALID'],
  ['hyphens', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'IDEMPOTENCY_KEY_INVALID'],
  ['quotes', '"a0eebc999c0b4ef8bb6d6bb9bd380a11"', 'IDEMPOTENCY_KEY_INVALID'],
  ['another UUID version', 'a0eebc999c0b1ef8bb6d6bb9bd380a11', 'IDEMPOTENCY_KEY_INVALID'],
  ['another UUID variant', 'a0eebc999c0b4ef8cb6d6bb9bd380a11', 'IDEMPOTENCY_KEY_INVALID'],
  ['31 digits', 'a0eebc999c0b4ef8bb6d6bb9bd380a1', 'IDEMPOTENCY_KEY_INVALID'],
  ['two keys', 'a0eebc999c0b4ef8bb6d6bb9bd380a11, a0eebc999c0b4ef8bb6d6bb9bd380a11', 'IDEMPOTENCY_KEY_INVALID'],
])('idempotency: a request is 400 unless its key is a UUID v4 in 32 lowercase hex digits: %s', async (_what, key, code) => {
  expect(await send(key)).toMatchObject({ status: 400, code });
  expect(runs).toBe(0);
});

test('idempotency: a repeated request gets the same answer and has no second effect', async () => {
  const key = newKey();
  const first = await send(key);
  expect(first).toMatchObject({ status: 201, replayed: false });
  const again = await send(key);
  expect(again).toMatchObject({ status: 201, body: first.body, replayed: true });
  expect(again.headers.location).toBe(first.headers.location);
  expect([await effects(), runs]).toEqual([1, 1]);
});

test('idempotency: the answer is stored in Redis for 48 hours under the Redis key `idempotency:{key}`, and the lock of the key is released', async () => {
  const key = newKey();
  await send(key);
  expect(await redis.hgetall(`idempotency:${key}`)).toMatchObject({
    status: 'completed',
    response: expect.any(String) as string,
  });
  expect(await redis.ttl(`idempotency:${key}`)).toBeGreaterThan(48 * 3600 - 60);
  expect(await redis.exists(`idempotency:lock:${key}`)).toBe(0);
});

test('idempotency: after Redis has lost its data, the first repetition is answered from PostgreSQL and the second from Redis', async () => {
  const key = newKey();
  const first = await send(key);
  await testRedis.flush();
  expect(await send(key)).toMatchObject({ status: 201, body: first.body, replayed: true });
  await database.query('truncate idempotency_keys');
  expect(await send(key)).toMatchObject({ status: 201, body: first.body, replayed: true });
  expect(await effects()).toBe(1);
});

test('idempotency: bodies with the same JSON content are the same request, whatever their member order and white space', async () => {
  const key = newKey();
  const first = await send(key, { body: '{"name":"a","of":1}' });
  expect(await send(key, { body: '{ "of" : 1.0, "name": "\\u0061" }' })).toMatchObject({
    status: 201,
    body: first.body,
    replayed: true,
  });
});

test.each<[string, Sent]>([
  ['another body', { body: { name: 'b' } }],
  ['another caller', { as: IVA }],
  ['another path', { path: '/effects-without-row' }],
  ['another method', { method: 'PUT' }],
])('idempotency: a used key with %s is refused as reused, even if only PostgreSQL has the key', async (_what, other) => {
  const key = newKey();
  const first = await send(key);
  expect(await send(key, other)).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  await testRedis.flush();
  const refused = await send(key, other);
  expect(refused).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  expect(refused.body).not.toContain(JSON.parse(first.body).id);
  expect(await send(key)).toMatchObject({ status: 201, replayed: true });
  expect(await effects()).toBe(1);
});

test('idempotency: while the first request runs, a second one with its key is 409 IDEMPOTENCY_KEY_IN_USE with Retry-After, even after the lifetime of one lock', async () => {
  const key = newKey();
  const barrier = barrierFor(2);
  beforeTransaction = barrier;
  const first = send(key);
  await new Promise((resolve) => setTimeout(resolve, 2.5 * LOCK_MS));
  const second = await send(key);
  expect(second).toMatchObject({ status: 409, code: 'IDEMPOTENCY_KEY_IN_USE', replayed: false });
  expect(second.headers['retry-after']).toBe('1');
  await barrier();
  expect([(await first).status, await effects()]).toEqual([201, 1]);
});

test('idempotency: after a crash before the effect, the lock of the key expires, and then the same request, but no other, may use the key', async () => {
  const key = newKey();
  const fingerprint = fingerprintOf({ userId: ANA, method: 'POST', path: '/effects', body: { name: 'a' } });
  await redis.hset(`idempotency:${key}`, { status: 'processing', fingerprint });
  await redis.set(`idempotency:lock:${key}`, 'the dead', 'PX', LOCK_MS);
  expect(await send(key)).toMatchObject({ status: 409, code: 'IDEMPOTENCY_KEY_IN_USE' });
  await new Promise((resolve) => setTimeout(resolve, LOCK_MS + 20));
  expect(await send(key, { body: { name: 'b' } })).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  expect(await send(key)).toMatchObject({ status: 201, replayed: false });
});

test('idempotency: after a crash between the effect and the update of Redis, a repeated request is answered from PostgreSQL, even while the lock of the key exists', async () => {
  const key = newKey();
  const first = await send(key);
  await redis.hset(`idempotency:${key}`, { status: 'processing' });
  await redis.hdel(`idempotency:${key}`, 'response');
  await redis.set(`idempotency:lock:${key}`, 'the dead', 'PX', LOCK_MS);
  expect(await send(key)).toMatchObject({ status: 201, body: first.body, replayed: true });
  await redis.del(`idempotency:${key}`);
  expect(await send(key, { body: { name: 'b' } })).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  expect([runs, await effects()]).toEqual([1, 1]);
});

test('idempotency: when a caller has the answer and repeats the request at once in another process, Redis has the key as completed there', async () => {
  const other = connectRedis(testRedis.url, { name: 'another process' });
  await whenReady(other);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const key = newKey();
    await send(key);
    const { known } = await new IdempotencyCache(other, LOCK_MS).claim(key, 'any fingerprint');
    expect([attempt, known?.state]).toEqual([attempt, 'completed']);
  }
  await closeRedis(other);
});

test('idempotency: a claim of a finished key returns the stored answer and takes no lock', async () => {
  const key = newKey();
  const first = await send(key);
  const { fingerprint } = (await redis.hgetall(`idempotency:${key}`)) as { fingerprint: string };
  const late = await new IdempotencyCache(redis).claim(key, fingerprint);
  expect(late.lock).toBeUndefined();
  expect(late.known?.answer?.body).toBe(first.body);
  expect(await redis.exists(`idempotency:lock:${key}`)).toBe(0);
});

test('idempotency: fifty simultaneous requests with one key have one effect, and all successes have the same body', async () => {
  const key = newKey();
  beforeTransaction = () => new Promise((resolve) => setTimeout(resolve, 30));
  const answers = await Promise.all(Array.from({ length: 50 }, () => send(key)));
  const finished = answers.filter(({ status }) => status === 201);
  expect(answers.filter((answer) => answer.status !== 201 && answer.code !== 'IDEMPOTENCY_KEY_IN_USE')).toEqual([]);
  expect(new Set(finished.map(({ body }) => body)).size).toBe(1);
  expect([await effects(), finished.filter(({ replayed }) => !replayed).length]).toEqual([1, 1]);
});

test('idempotency: without Redis fifty simultaneous requests with one key have one effect, and all get the same answer', async () => {
  await loseRedis();
  const key = newKey();
  beforeTransaction = barrierFor(20);
  const answers = await Promise.all(Array.from({ length: 50 }, () => send(key)));
  expect([...new Set(answers.map(({ status }) => status))]).toEqual([201]);
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect([await effects(), answers.filter(({ replayed }) => !replayed).length]).toEqual([1, 1]);
});

test('idempotency: if Redis loses its data while a request runs, a second request with the key runs, too, has no effect and gets the answer of the first', async () => {
  const key = newKey();
  beforeTransaction = barrierFor(2);
  const first = send(key);
  while (runs === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await testRedis.flush();
  const both = await Promise.all([first, send(key)]);
  expect(both.map(({ status }) => status)).toEqual([201, 201]);
  expect([both[0].body === both[1].body, both.filter(({ replayed }) => replayed).length, await effects()]).toEqual([true, 1, 1]);
});

test('idempotency: negative control: if neither PostgreSQL nor Redis stores the key, two requests with one key have two effects', async () => {
  await loseRedis();
  const key = newKey();
  beforeTransaction = barrierFor(2);
  await Promise.all([send(key, { path: '/effects-without-row' }), send(key, { path: '/effects-without-row' })]);
  expect(await effects()).toBe(2);
});

test.each(['NOT_FOUND', 'INVALID_STATE', 'TICKET_LIMIT_REACHED', 'RESERVATION_EXPIRED'])(
  'idempotency: %s is a lasting refusal: a repeated request gets it from Redis, and PostgreSQL stores nothing',
  async (code) => {
    const key = newKey();
    const first = await send(key, { path: '/refusals', body: { code } });
    const again = await send(key, { path: '/refusals', body: { code } });
    expect(again).toMatchObject({ status: first.status, code, body: first.body, replayed: true });
    expect(again.headers['content-type']).toContain('application/problem+json');
    expect([runs, await database.query('select * from idempotency_keys')]).toEqual([1, []]);
  },
);

test.each([
  'SEATS_BUSY',
  'ALL_SEATS_HELD',
  'SEATS_UNAVAILABLE',
  'SOLD_OUT',
  'SALE_NOT_OPEN',
  'QUEUE_CLOSED',
  'VALIDATION_FAILED',
  'BLACKLISTED',
  'PURCHASE_WINDOW_REQUIRED',
  'LOCK_TIMEOUT',
  'OUTCOME_UNKNOWN',
  'DEPENDENCY_UNAVAILABLE',
  'INTERNAL_ERROR',
])('idempotency: %s is a passing refusal: it is not stored, and a repeated request with the same key runs', async (code) => {
  const key = newKey();
  expect(await send(key, { path: '/refusals', body: { code } })).toMatchObject({ code, replayed: false });
  expect(await redis.exists(`idempotency:${key}`, `idempotency:lock:${key}`)).toBe(0);
  expect(await send(key, { path: '/refusals', body: { code } })).toMatchObject({ code, replayed: false });
  expect(runs).toBe(2);
});

test('idempotency: the key of a malformed request can be used again', async () => {
  const key = newKey();
  expect(await send(key, { body: { name: 'a', price: 1 } })).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  expect(await send(key)).toMatchObject({ status: 201, replayed: false });
});

test('idempotency: the answer of a request that needed no transaction is replayed from Redis, and from PostgreSQL after Redis has lost its data', async () => {
  const key = newKey();
  const call = { path: '/nothing', body: '{}' };
  expect(await send(key, call)).toMatchObject({ status: 200, body: '{"run":1}', replayed: false });
  expect(await send(key, { path: '/nothing', body: '' })).toMatchObject({ body: '{"run":1}', replayed: true });
  await testRedis.flush();
  expect(await send(key, call)).toMatchObject({ status: 200, body: '{"run":1}', replayed: true });
});

test('idempotency: if a request lost its lock and is refused late, its refusal does not replace the stored answer of the request that took over the key', async () => {
  const [key, fingerprint] = [newKey(), 'f'];
  const cache = new IdempotencyCache(redis, LOCK_MS);
  const fail = (error: unknown): void => {
    throw error;
  };
  const answer = { status: 201, body: '{"name":"b, \\"body\\":{}"}', location: '/effects/,"body":1' };
  const claimAndLose = async (): Promise<KeyLock> => {
    const { lock } = await cache.claim(key, fingerprint);
    await redis.del(`idempotency:lock:${key}`);
    return lock!;
  };
  const [late, forgotten, last] = [await claimAndLose(), await claimAndLose(), await claimAndLose()];
  await cache.complete(last, { fingerprint, answer }, fail);
  await cache.complete(late, { fingerprint, answer: { status: 409, body: '{"code":"INVALID_STATE"}' } }, fail);
  await cache.forget(forgotten, fail);
  expect(await cache.claim(key, fingerprint)).toEqual({ known: { state: 'completed', fingerprint, answer } });
});

test('idempotency: rows that are read at the same time share one query, which names each key once, and every read gets its row', async () => {
  await database.query(
    `insert into idempotency_keys (key, user_id, fingerprint, status, body) select key, $1, 'print of ' || key, 200, '' from unnest($2::text[]) key`,
    [ANA, ['a', 'b']],
  );
  const queries: unknown[] = [];
  const recording = Object.create(database) as DataSource;
  recording.query = <T>(text: string, values?: unknown[]) => {
    queries.push(values?.[0]);
    return database.query<T>(text, values);
  };
  const rows = new IdempotencyRows(recording);
  const read = await Promise.all(['a', 'b', 'b', 'none'].map((key) => rows.read(key)));
  expect(read.map((row) => row?.fingerprint)).toEqual(['print of a', 'print of b', 'print of b', undefined]);
  expect(queries).toEqual([['a'], ['b', 'none']]);
});
