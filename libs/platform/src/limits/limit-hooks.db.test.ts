import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { createTestHttpApp, INTERNAL_SECRET, silentLogger } from '#testing/test-http-app';
import { Controller, Get, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Endpoint } from '../http/endpoint.ts';
import { RequestRefused } from '../http/request-refused.ts';
import { IdempotencyCache } from '../idempotency/idempotency-cache.ts';
import { guardIdempotency } from '../idempotency/idempotency-hook.ts';
import { IdempotencyRows } from '../idempotency/idempotency-rows.ts';
import { openDatabase } from '../postgres/database.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { limitByAddress, limitByFan } from './limit-hooks.ts';
import { RateLimiter } from './rate-limiter.ts';
import { AnswerSeal } from '../idempotency/answer-seal.ts';

const seal = new AnswerSeal(['a secret of the test']);

const ANA = '0190a000-0000-7000-8000-00000000000a';
const PER_ADDRESS = 8;
const PER_FAN = 3;

/** What the handler of a purchase returns or throws. */
let outcome: () => unknown;

@Controller()
class ShopController {
  @Get('things')
  @Endpoint({ access: 'public' })
  list(): unknown {
    return [];
  }

  @Get('file')
  @Endpoint({ access: 'public', isStatic: true })
  file(): unknown {
    return 'file';
  }

  @Post('purchases')
  @Endpoint({ access: 'fan', fanLimit: true, status: 201, body: 'none' })
  buy(): unknown {
    return outcome();
  }

  @Get('health')
  @Endpoint({ access: 'public', noAddressLimit: true })
  health(): unknown {
    return {};
  }

  @Post('internal')
  @Endpoint({ access: 'internal', status: 204, body: 'none' })
  internal(): void {}
}

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let database: DataSource;
let redis: RedisConnection;
let direct: NestFastifyApplication;
let behindProxy: NestFastifyApplication;

function openApp(trustedProxies: string[]): Promise<NestFastifyApplication> {
  return createTestHttpApp(
    { controllers: [ShopController] },
    {
      trustedProxies,
      isAllowedOrigin: () => true,
      limitAddress: limitByAddress(new RateLimiter(redis, 'rate_limit:global', PER_ADDRESS), [INTERNAL_SECRET]),
      afterAccess: (fastify) => {
        guardIdempotency(fastify, {
          cache: new IdempotencyCache(redis),
          rows: new IdempotencyRows(database),
          seal,
          logger: silentLogger,
        });
        limitByFan(fastify, {
          purchases: new RateLimiter(redis, 'rate_limit:user', PER_FAN),
          writes: new RateLimiter(redis, 'rate_limit:writes', PER_FAN),
        });
      },
    },
  );
}

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  database = await openDatabase({ url: testDatabase.url, name: 'limits-test', poolSize: 2 });
  redis = connectRedis(testRedis.url, { name: 'limits-test' });
  await whenReady(redis);
  [direct, behindProxy] = await Promise.all([openApp([]), openApp(['10.0.0.0/8', '127.0.0.1'])]);
});

beforeEach(async () => {
  await testRedis.flush();
  outcome = () => ({ bought: true });
});

afterAll(async () => {
  await Promise.all([direct.close(), behindProxy.close()]);
  await closeRedis(redis);
  await database.destroy();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

interface Sent {
  app?: NestFastifyApplication;
  from?: string;
  method?: 'GET' | 'POST' | 'OPTIONS';
  headers?: Record<string, string>;
}

async function send(url: string, { app = direct, from = '203.0.113.1', method = 'GET', headers = {} }: Sent = {}) {
  const answer = await app.inject({ method, url, remoteAddress: from, headers });
  const body = answer.body.startsWith('{') ? answer.json<{ code?: string }>() : {};
  return { status: answer.statusCode, code: body.code, headers: answer.headers };
}

const newKey = (): string => randomUUID().replaceAll('-', '');
const buy = (key = newKey(), from = '203.0.113.1') =>
  send('/purchases', { method: 'POST', from, headers: { 'x-mock-user-id': ANA, 'idempotency-key': key } });

/** Sends `count` requests and returns how many of them were not answered 429. */
async function countAccepted(count: number, request: () => Promise<{ status: number }>): Promise<number> {
  let accepted = 0;
  for (let sent = 0; sent < count; sent += 1) if ((await request()).status !== 429) accepted += 1;
  return accepted;
}

test('address limit: each address has a separate limit, and the headers show the remaining requests', async () => {
  expect((await send('/things')).headers).toMatchObject({
    'ratelimit-limit': '8',
    'ratelimit-remaining': '7',
    'ratelimit-reset': '60',
  });
  expect(await countAccepted(20, () => send('/things'))).toBe(PER_ADDRESS - 1);
  const refused = await send('/things');
  expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(58);
  expect(refused.headers['ratelimit-remaining']).toBe('0');
  expect(await countAccepted(20, () => send('/things', { from: '203.0.113.2' }))).toBe(PER_ADDRESS);
});

test('address limit: of files an address may read ten times as many, and they do not count for its other requests', async () => {
  expect(await countAccepted(100, () => send('/file'))).toBe(10 * PER_ADDRESS);
  expect(await countAccepted(20, () => send('/things'))).toBe(PER_ADDRESS);
});

test('address limit: all addresses of one IPv6 /64 network count as one address', async () => {
  let host = 0;
  expect(await countAccepted(20, () => send('/things', { from: `2001:db8:1:2::${(host += 1).toString(16)}` }))).toBe(PER_ADDRESS);
  expect(await countAccepted(1, () => send('/things', { from: '2001:db8:1:3::1' }))).toBe(1);
});

test.each<[string, () => Promise<{ status: number }>]>([
  ['health checks', () => send('/health')],
  [
    'preflights',
    () => send('/things', { method: 'OPTIONS', headers: { origin: 'http://x', 'access-control-request-method': 'GET' } }),
  ],
  ['calls of our own services', () => send('/internal', { method: 'POST', headers: { 'x-internal-auth': INTERNAL_SECRET } })],
  ['calls of our own services on public routes', () => send('/things', { headers: { 'x-internal-auth': INTERNAL_SECRET } })],
  ['requests to unknown paths', () => send('/nothing')],
])('address limit: %s are not counted', async (_what, request) => {
  expect(await countAccepted(PER_ADDRESS + 3, request)).toBe(PER_ADDRESS + 3);
  expect((await send('/things')).headers['ratelimit-remaining']).toBe(String(PER_ADDRESS - 1));
});

test('address limit: requests with a wrong internal secret are counted', async () => {
  expect(await countAccepted(20, () => send('/internal', { method: 'POST', headers: { 'x-internal-auth': 'guess' } }))).toBe(
    PER_ADDRESS,
  );
});

describe('address limit: X-Forwarded-For', () => {
  let spoofed = 0;
  const spoof = (): string => `192.0.2.${(spoofed += 1)}`;

  test('is ignored when no proxies are trusted', async () => {
    expect(await countAccepted(20, () => send('/things', { headers: { 'x-forwarded-for': spoof() } }))).toBe(PER_ADDRESS);
  });

  test('is ignored when the sender is not a trusted proxy', async () => {
    const request = () => send('/things', { app: behindProxy, headers: { 'x-forwarded-for': spoof() } });
    expect(await countAccepted(20, request)).toBe(PER_ADDRESS);
  });

  test('gives the address of the client behind a trusted proxy; addresses that the client itself wrote into the header are ignored', async () => {
    const via = (client: string) =>
      send('/things', { app: behindProxy, from: '10.1.2.3', headers: { 'x-forwarded-for': `${spoof()}, ${client}, 10.9.9.9` } });
    expect(await countAccepted(20, () => via('203.0.113.50'))).toBe(PER_ADDRESS);
    expect(await countAccepted(1, () => via('203.0.113.51'))).toBe(1);
  });

  test.each(['', 'nonsense', ',,', '999.1.1.1', 'x'.repeat(4000)])(
    'with the value %j does not break the request',
    async (text) => {
      expect((await send('/things', { app: behindProxy, from: '10.1.2.3', headers: { 'x-forwarded-for': text } })).status).toBe(
        200,
      );
    },
  );
});

describe('fan limit: purchases of a fan', () => {
  test('are limited whatever addresses they come from, and the headers describe the fan limit while it has fewer requests left', async () => {
    const first = await buy();
    expect(first.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': '2' });
    let host = 1;
    expect(await countAccepted(9, () => buy(newKey(), `203.0.113.${(host += 1)}`))).toBe(PER_FAN - 1);
    expect((await send('/things')).headers).toMatchObject({ 'ratelimit-limit': '8', 'ratelimit-remaining': '6' });
    for (let reads = 0; reads < 5; reads += 1) await send('/things', { from: '203.0.113.99' });
  });

  test('count for the address limit, too, and the headers describe that limit when it has fewer requests left', async () => {
    await countAccepted(PER_ADDRESS - 2, () => send('/things'));
    expect((await buy()).headers).toMatchObject({ 'ratelimit-limit': '8', 'ratelimit-remaining': '1' });
  });

  test('count once when they are repeated with the same idempotency key', async () => {
    const key = newKey();
    await buy(key);
    for (let repeat = 0; repeat < 5; repeat += 1) expect(await buy(key)).toMatchObject({ status: 201 });
    expect((await buy()).headers['ratelimit-remaining']).toBe('1');
  });

  test.each<[string, number, () => never]>([
    ['SEATS_BUSY', 0, () => refuse('SEATS_BUSY')],
    ['DEPENDENCY_UNAVAILABLE', 0, () => refuse('DEPENDENCY_UNAVAILABLE')],
    [
      'a defect',
      0,
      () => {
        throw new Error('x');
      },
    ],
    ['SOLD_OUT', 1, () => refuse('SOLD_OUT')],
    ['NOT_FOUND', 1, () => refuse('NOT_FOUND')],
  ])('that are answered with %s count %d times', async (_what, counted, ending) => {
    outcome = ending;
    await buy();
    outcome = () => ({ bought: true });
    expect((await buy()).headers['ratelimit-remaining']).toBe(String(PER_FAN - 1 - counted));
  });

  test('beyond the limit are refused, and their idempotency key can be used again', async () => {
    await countAccepted(PER_FAN, () => buy());
    const key = newKey();
    expect(await buy(key)).toMatchObject({ status: 429 });
    await testRedis.flush();
    expect(await buy(key)).toMatchObject({ status: 201 });
  });
});

function refuse(code: 'SEATS_BUSY' | 'DEPENDENCY_UNAVAILABLE' | 'SOLD_OUT' | 'NOT_FOUND'): never {
  throw new RequestRefused(code);
}
