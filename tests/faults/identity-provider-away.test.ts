import { createTestHttpApp } from '#testing/test-http-app';
import { Endpoint } from '#platform/http/endpoint';
import { identifyByToken, identifyCallers, type IdentifyCaller } from '#platform/http/identity';
import { jest } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createRemoteJWKSet, exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

// F46: the identity provider is away for an hour. The clock is simulated, the provider is a real HTTP server that stops answering.

const FAN = '0190a000-0000-7000-8000-00000000000a';
const [ISSUER, AUDIENCE] = ['https://id.example.hr', 'tribina'];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START = new Date('2026-11-20T18:00:00Z').getTime();

@Controller('things')
class ThingsController {
  @Get()
  @Endpoint({ access: 'fan' })
  read(): object {
    return {};
  }
}

interface Key {
  readonly kid: string;
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  readonly jwk: JWK;
}

async function newKey(kid: string): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}

/** The provider. `fetches` counts the requests for its keys; `mode` says how it answers them. */
class Provider {
  mode: 'well' | 'silent' | 'failing' | 'without keys' = 'well';
  fetches = 0;
  keys: Key[] = [];
  url = new URL('http://127.0.0.1');
  private server: Server | undefined;

  async listen(): Promise<void> {
    this.server = createServer((_request, response) => {
      this.fetches += 1;
      if (this.mode === 'silent') return;
      const keys = this.mode === 'without keys' ? [] : this.keys.map(({ jwk }) => jwk);
      response
        .writeHead(this.mode === 'failing' ? 503 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
    this.url = new URL(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}/keys`);
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}

let provider: Provider;
let first: Key;
let second: Key;
let stranger: Key;
let app: NestFastifyApplication | undefined;

beforeAll(async () => {
  [first, second, stranger] = (await Promise.all(['first', 'second', 'stranger'].map(newKey))) as [Key, Key, Key];
});
beforeEach(async () => {
  jest.useFakeTimers({
    now: START,
    doNotFake: [
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
      'setTimeout',
      'clearTimeout',
    ],
  });
  provider = new Provider();
  provider.keys = [first];
  await provider.listen();
});
afterEach(async () => {
  jest.useRealTimers();
  await app?.close();
  await provider.close();
});

const pass = (ms: number): void => void jest.setSystemTime(Date.now() + ms);

const ourIdentify = (): IdentifyCaller =>
  identifyCallers({
    AUTH_MODE: 'jwt',
    JWT_JWKS_URL: provider.url.href,
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    JWT_ROLES_CLAIM: 'roles',
  });

async function start(identify = ourIdentify()): Promise<void> {
  app = await createTestHttpApp({ controllers: [ThingsController] }, { identify });
}

/** Sends a request with a new token, signed with this key. Returns the status. */
async function call(key: Key): Promise<number> {
  const seconds = Math.floor(Date.now() / 1000);
  const token = await new SignJWT({ sub: FAN, iss: ISSUER, aud: AUDIENCE, iat: seconds, exp: seconds + 300 })
    .setProtectedHeader({ alg: 'ES256', kid: key.kid })
    .sign(key.privateKey);
  const { statusCode } = await app!.inject({ url: '/things', headers: { authorization: `Bearer ${token}` } });
  return statusCode;
}

/** One request each minute. Returns how often each status was answered. */
async function callEachMinute(minutes: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let minute = 0; minute < minutes; minute += 1) {
    pass(MINUTE_MS);
    const status = await call(first);
    counts[status] = (counts[status] ?? 0) + 1;
    await settled();
  }
  return counts;
}

/** Waits until a fetch in the background has got its answer. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test.each(['failing', 'without keys'] as const)(
  'F46: while the provider is %s for an hour, all requests with valid tokens are answered, and keys are asked for again and again',
  async (mode) => {
    await start();
    expect(await call(first)).toBe(200);
    provider.mode = mode;
    expect(await callEachMinute(60)).toEqual({ 200: 60 });
    expect(provider.fetches).toBeGreaterThan(50);
    expect(await call(stranger)).toBe(503);
  },
);

test('F46: while the provider accepts connections and stays silent for an hour, no request waits for it', async () => {
  await start();
  expect(await call(first)).toBe(200);
  provider.mode = 'silent';
  pass(6 * MINUTE_MS);
  expect(await call(first)).toBe(200);
  // The silent fetch ends after 5 s of real time.
  await new Promise((resolve) => setTimeout(resolve, 5200));
  const startedAt = performance.now();
  expect(await callEachMinute(54)).toEqual({ 200: 54 });
  expect(performance.now() - startedAt).toBeLessThan(4000);
}, 20_000);

test('negative control: with the key set of jose, which forgets its keys after ten minutes, the requests after that are 503', async () => {
  const keys = createRemoteJWKSet(provider.url, { timeoutDuration: 5000, cooldownDuration: 30_000 });
  const gone = (): Promise<never> => Promise.reject(new Error('no keys'));
  const identify = identifyByToken({
    keys: (header, token) => keys(header, token).catch(gone),
    issuer: ISSUER,
    audience: AUDIENCE,
    rolesClaim: 'roles',
  });
  await start(identify);
  expect(await call(first)).toBe(200);
  provider.mode = 'failing';
  expect(await callEachMinute(60)).toEqual({ 200: 9, 503: 51 });
});

test('keys are not used for longer than 24 hours without the provider, and are back as soon as it is', async () => {
  await start();
  expect(await call(first)).toBe(200);
  provider.mode = 'failing';
  pass(24 * HOUR_MS - MINUTE_MS);
  expect(await call(first)).toBe(200);
  pass(2 * MINUTE_MS);
  expect(await call(first)).toBe(503);
  provider.mode = 'well';
  pass(1000);
  expect(await call(first)).toBe(200);
});

test('a process that starts while the provider is away answers 503, asks once a second at most, and works when it is back', async () => {
  provider.mode = 'failing';
  await start();
  expect([await call(first), await call(first), await call(first)]).toEqual([503, 503, 503]);
  expect(provider.fetches).toBe(1);
  provider.mode = 'well';
  pass(1000);
  expect(await call(first)).toBe(200);
});

test('a new key of the provider is looked up at once, but unknown key ids cause one fetch in 5 s at most', async () => {
  await start();
  expect(await call(first)).toBe(200);
  provider.keys = [first, second];
  pass(5000);
  expect(await call(second)).toBe(200);
  expect(provider.fetches).toBe(2);
  const statuses = await Promise.all(Array.from({ length: 50 }, () => call(stranger)));
  expect([new Set(statuses), provider.fetches]).toEqual([new Set([401]), 2]);
  pass(5000);
  await Promise.all(Array.from({ length: 50 }, () => call(stranger)));
  expect(provider.fetches).toBe(3);
});

test('a key that the provider has withdrawn is refused after ten minutes, also if there were no requests in between', async () => {
  await start();
  expect(await call(first)).toBe(200);
  provider.keys = [second];
  pass(10 * MINUTE_MS);
  expect(await call(first)).toBe(401);
  expect(await call(second)).toBe(200);
});

test('keys are refreshed in the background: the request that finds them old does not wait', async () => {
  await start();
  await call(first);
  pass(6 * MINUTE_MS);
  provider.mode = 'silent';
  const startedAt = performance.now();
  expect(await call(first)).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});
