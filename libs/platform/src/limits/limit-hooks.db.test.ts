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

const ANA = '0190a000-0000-7000-8000-00000000000a';
const PER_ADDRESS = 8;
const PER_FAN = 3;

/** What the next purchase is answered with. */
let outcome: () => unknown;

@Controller()
class ShopController {
  @Get('things')
  @Endpoint({ access: 'public' })
  list(): unknown {
    return [];
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
      limitAddress: limitByAddress(new RateLimiter(redis, 'rate_limit:global', PER_ADDRESS), INTERNAL_SECRET),
      afterAccess: (fastify) => {
        guardIdempotency(fastify, {
          cache: new IdempotencyCache(redis),
          rows: new IdempotencyRows(database),
          logger: silentLogger,
        });
        limitByFan(fastify, new RateLimiter(redis, 'rate_limit:user', PER_FAN));
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
  await Promise.all([testDatabase.drop(), testRedis.close()]);
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

/** How many of so many requests were let through. */
async function through(count: number, request: () => Promise<{ status: number }>): Promise<number> {
  let let_through = 0;
  for (let sent = 0; sent < count; sent += 1) if ((await request()).status !== 429) let_through += 1;
  return let_through;
}

test('an address has its limit, says so beforehand, and others have theirs', async () => {
  expect((await send('/things')).headers).toMatchObject({
    'ratelimit-limit': '8',
    'ratelimit-remaining': '7',
    'ratelimit-reset': '60',
  });
  expect(await through(20, () => send('/things'))).toBe(PER_ADDRESS - 1);
  const refused = await send('/things');
  expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(58);
  expect(refused.headers['ratelimit-remaining']).toBe('0');
  expect(await through(20, () => send('/things', { from: '203.0.113.2' }))).toBe(PER_ADDRESS);
});

test('all addresses of one IPv6 network are one', async () => {
  let host = 0;
  expect(await through(20, () => send('/things', { from: `2001:db8:1:2::${(host += 1).toString(16)}` }))).toBe(PER_ADDRESS);
  expect(await through(1, () => send('/things', { from: '2001:db8:1:3::1' }))).toBe(1);
});

test.each<[string, () => Promise<{ status: number }>]>([
  ['health', () => send('/health')],
  [
    'preflights',
    () => send('/things', { method: 'OPTIONS', headers: { origin: 'http://x', 'access-control-request-method': 'GET' } }),
  ],
  ['our own services', () => send('/internal', { method: 'POST', headers: { 'x-internal-auth': INTERNAL_SECRET } })],
  ['our own services on public routes', () => send('/things', { headers: { 'x-internal-auth': INTERNAL_SECRET } })],
  ['unknown paths', () => send('/nothing')],
])('%s are not counted', async (_what, request) => {
  expect(await through(PER_ADDRESS + 3, request)).toBe(PER_ADDRESS + 3);
  expect((await send('/things')).headers['ratelimit-remaining']).toBe(String(PER_ADDRESS - 1));
});

test('who guesses the internal secret is counted', async () => {
  expect(await through(20, () => send('/internal', { method: 'POST', headers: { 'x-internal-auth': 'guess' } }))).toBe(
    PER_ADDRESS,
  );
});

describe('X-Forwarded-For', () => {
  let spoofed = 0;
  const spoof = (): string => `192.0.2.${(spoofed += 1)}`;

  test('means nothing without trusted proxies', async () => {
    expect(await through(20, () => send('/things', { headers: { 'x-forwarded-for': spoof() } }))).toBe(PER_ADDRESS);
  });

  test('means nothing from who is no trusted proxy', async () => {
    const request = () => send('/things', { app: behindProxy, headers: { 'x-forwarded-for': spoof() } });
    expect(await through(20, request)).toBe(PER_ADDRESS);
  });

  test('names the client behind one, whatever the client itself wrote before', async () => {
    const via = (client: string) =>
      send('/things', { app: behindProxy, from: '10.1.2.3', headers: { 'x-forwarded-for': `${spoof()}, ${client}, 10.9.9.9` } });
    expect(await through(20, () => via('203.0.113.50'))).toBe(PER_ADDRESS);
    expect(await through(1, () => via('203.0.113.51'))).toBe(1);
  });

  test.each(['', 'nonsense', ',,', '999.1.1.1', 'x'.repeat(4000)])('%j breaks nothing', async (text) => {
    expect((await send('/things', { app: behindProxy, from: '10.1.2.3', headers: { 'x-forwarded-for': text } })).status).toBe(
      200,
    );
  });
});

describe('the purchases of a fan', () => {
  test('have a limit wherever they come from, and the headers speak of the limit that is nearer', async () => {
    const first = await buy();
    expect(first.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': '2' });
    let host = 1;
    expect(await through(9, () => buy(newKey(), `203.0.113.${(host += 1)}`))).toBe(PER_FAN - 1);
    expect((await send('/things')).headers).toMatchObject({ 'ratelimit-limit': '8', 'ratelimit-remaining': '6' });
    for (let reads = 0; reads < 5; reads += 1) await send('/things', { from: '203.0.113.99' });
  });

  test('count by the address too: with little left there, the headers speak of the address', async () => {
    await through(PER_ADDRESS - 2, () => send('/things'));
    expect((await buy()).headers).toMatchObject({ 'ratelimit-limit': '8', 'ratelimit-remaining': '1' });
  });

  test('that are repeated under their key do not count again', async () => {
    const key = newKey();
    await buy(key);
    for (let repeat = 0; repeat < 5; repeat += 1) expect(await buy(key)).toMatchObject({ status: 201 });
    expect((await buy()).headers['ratelimit-remaining']).toBe('1');
  });

  test.each<[string, () => never, number]>([
    ['SEATS_BUSY', () => refuse('SEATS_BUSY'), 0],
    ['DEPENDENCY_UNAVAILABLE', () => refuse('DEPENDENCY_UNAVAILABLE'), 0],
    [
      'a defect',
      () => {
        throw new Error('x');
      },
      0,
    ],
    ['SOLD_OUT', () => refuse('SOLD_OUT'), 1],
    ['NOT_FOUND', () => refuse('NOT_FOUND'), 1],
  ])('that end in %s', async (_what, ending, counted) => {
    outcome = ending;
    await buy();
    outcome = () => ({ bought: true });
    expect((await buy()).headers['ratelimit-remaining']).toBe(String(PER_FAN - 1 - counted));
  });

  test('that were refused for the limit use up no key', async () => {
    await through(PER_FAN, () => buy());
    const key = newKey();
    expect(await buy(key)).toMatchObject({ status: 429 });
    await testRedis.flush();
    expect(await buy(key)).toMatchObject({ status: 201 });
  });
});

function refuse(code: 'SEATS_BUSY' | 'DEPENDENCY_UNAVAILABLE' | 'SOLD_OUT' | 'NOT_FOUND'): never {
  throw new RequestRefused(code);
}
