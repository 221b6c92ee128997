import { pageAddresses } from '#contracts/page-addresses';
import { loadConfig } from '#platform/config/load-config';
import { createHttpApp } from '#platform/http/http-app';
import { identifyMock } from '#platform/http/identity';
import { routesOf } from '#platform/http/route-table';
import { silentLogger } from '#testing/test-http-app';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { serveWebPages, webPrefixes } from '../../apps/monolith/src/web-pages.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { createNotificationWorker } from '../../apps/notification-worker/src/notification-worker.ts';
import { openServices, type Services } from '../bad-input/system.ts';
import { createTestDatabase } from '#testing/test-database';

// Attack: a foreign site shows one of our pages in a frame and steals clicks, reads it through a window that it has opened, or makes its
// scripts run in it. Walks every GET route of the three services as a browser does.

const UUID = '0190a000-0000-7000-8000-0000000000f1';
const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const HTTPS = { PUBLIC_URL: 'https://shop.example.hr', QUEUE_PUBLIC_URL: 'https://queue.example.hr' };

type Apps = Record<'web app' | 'monolith' | 'queue-service' | 'notification-worker', NestFastifyApplication>;
let apps: Apps;
let services: Services;
let closeOthers: () => Promise<void>;

/** The web app as the monolith serves it, from a folder of this test: dist may not have been built. */
async function openWebApp(folder: string, settings: Record<string, string>): Promise<NestFastifyApplication> {
  mkdirSync(path.join(folder, 'assets'), { recursive: true });
  writeFileSync(path.join(folder, 'index.html'), '<p>the page</p>');
  writeFileSync(path.join(folder, 'assets', 'app.js'), '// script');
  const config = loadConfig(monolithConfig, { DATABASE_URL: 'postgres://x/y', REDIS_URL: 'redis://x', ...settings });
  const app = await createHttpApp(
    { module: class WebApp {} },
    {
      logger: silentLogger,
      identify: identifyMock,
      internalSecrets: [],
      trustedProxies: ['127.0.0.1'],
      publicUrl: config.PUBLIC_URL,
      isAllowedOrigin: () => false,
      requestDeadlineMs: 20_000,
      publicPrefixes: webPrefixes,
    },
  );
  await serveWebPages(app.getHttpAdapter().getInstance() as unknown as FastifyInstance, config, folder);
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app;
}

beforeAll(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-page-headers-'));
  services = await openServices(HTTPS);
  const database = await createTestDatabase();
  const settings = { DATABASE_URL: database.url, REDIS_URL: services.redisUrl, LOG_LEVEL: 'silent', ...HTTPS };
  const worker = await createNotificationWorker(loadConfig(workerConfig, settings), silentLogger);
  await worker.app.getHttpAdapter().getInstance().ready();
  apps = {
    'web app': await openWebApp(folder, HTTPS),
    monolith: services.monolith.app,
    'queue-service': services.queue.app,
    'notification-worker': worker.app,
  };
  closeOthers = async () => {
    await Promise.all([worker.app.close(), apps['web app'].close()]);
    await database.close();
    rmSync(folder, { recursive: true });
  };
}, 60_000);
afterAll(async () => {
  await closeOthers();
  await services.close();
});

const serviceNames = ['web app', 'monolith', 'queue-service', 'notification-worker'] as const;

/** The address of a route, with a UUID for each parameter and nothing for the rest. */
const addressOf = (url: string): string => url.replaceAll(/:\w+/g, UUID).replace(/\*$/, '');

const open = (name: keyof Apps, url: string, headers: Record<string, string> = {}) =>
  apps[name].inject({ method: 'GET', url, headers: { accept: HTML, 'sec-fetch-mode': 'navigate', ...headers } });

type Headers = Awaited<ReturnType<typeof open>>['headers'];

/** The parts of a header, which is sent once. */
const partsOf = (headers: Headers, name: string, separator: string): string[] =>
  String([headers[name] ?? ''].flat()[0]).split(separator);

/** What is missing in the headers of a page. */
function faultsOf(headers: Headers): string[] {
  const csp = partsOf(headers, 'content-security-policy', '; ');
  const permissions = partsOf(headers, 'permissions-policy', ', ');
  const rules: Record<string, boolean> = {
    'its policy allows what it does not name': csp.includes("default-src 'none'"),
    'its scripts may be inline': !csp.some((part) => part.startsWith('script-src') && part !== "script-src 'self'"),
    'its base may be changed': csp.includes("base-uri 'none'"),
    'its forms may send to other sites':
      csp.some((part) => /^form-action '(none|self)'$/.test(part)) || csp.some((part) => part.startsWith('sandbox')),
    'it may be framed': csp.includes("frame-ancestors 'none'") && headers['x-frame-options'] === 'DENY',
    'it may be opened by http': headers['strict-transport-security'] === 'max-age=31536000',
    'it may use the microphone or the location': ['microphone=()', 'geolocation=()', 'usb=()'].every((part) =>
      permissions.includes(part),
    ),
    'it shares windows': headers['cross-origin-opener-policy'] === 'same-origin',
    'other sites may load it': headers['cross-origin-resource-policy'] === 'same-origin',
    'its type is guessed': headers['x-content-type-options'] === 'nosniff',
    'it tells other sites its address': headers['referrer-policy'] === 'no-referrer',
  };
  return Object.entries(rules).flatMap(([fault, isRight]) => (isRight ? [] : [fault]));
}

test.each(serviceNames)('%s: every route that a browser opens answers with the headers of a page', async (name) => {
  // Streams never end, and the addresses of their matches are unknown here: they are 404.
  const addresses = [
    ...new Set(
      routesOf(apps[name])
        .filter(({ method }) => method === 'GET')
        .map(({ url }) => addressOf(url)),
    ),
  ];
  const unknown = ['/nowhere', '/api/v1/nowhere', '/%ff', `/${'x'.repeat(200)}`];
  const wrong: string[] = [];
  for (const address of [...addresses, ...unknown]) {
    const { headers, statusCode } = await open(name, address);
    wrong.push(...faultsOf(headers).map((fault) => `${address} (${statusCode}): ${fault}`));
  }
  expect(wrong).toEqual([]);
  expect(addresses.length).toBeGreaterThan(5);
});

test('the pages among these routes are HTML, and no HTML is left out', async () => {
  const pages: Record<string, string[]> = {};
  for (const name of serviceNames) {
    const addresses = routesOf(apps[name])
      .filter(({ method }) => method === 'GET')
      .map(({ url }) => addressOf(url));
    const answers = await Promise.all(
      [...new Set(addresses), '/nowhere'].map(async (url) => ({
        url,
        type: String((await open(name, url)).headers['content-type']),
      })),
    );
    pages[name] = answers
      .filter(({ type }) => type.startsWith('text/html'))
      .map(({ url }) => url)
      .sort();
  }
  const docs = ['/docs', '/docs/', '/docs/index.html'];
  expect(pages).toMatchObject({
    'web app': [...pageAddresses.map(addressOf), '/nowhere'].sort(),
    'queue-service': docs,
    'notification-worker': [...docs, '/mailbox/'].sort(),
  });
  expect(pages.monolith).toEqual(expect.arrayContaining(docs));
});

test.each([
  ['/', 'payment=()', 'camera=()'],
  ['/ops/jobs', 'payment=()', 'camera=()'],
  [`/matches/${UUID}`, 'payment=()', 'camera=()'],
  [`/matches/${UUID}/checkout`, 'payment=(self)', 'camera=()'],
  ['/invitation', 'payment=(self)', 'camera=()'],
  ['/gate', 'payment=()', 'camera=(self)'],
  ['/gates', 'payment=()', 'camera=()'],
])('the page %s has the permissions %s and %s', async (address, ...expected) => {
  const { headers } = await open('web app', address);
  const permissions = String(headers['permissions-policy']).split(', ');
  expect(permissions.filter((part) => /^(payment|camera)=/.test(part)).sort()).toEqual([...expected].sort());
  expect(permissions.filter((part) => !part.endsWith('=()')).length).toBe(
    expected.filter((part) => !part.endsWith('=()')).length,
  );
});

test('the files of the page may be loaded by our own pages only', async () => {
  const { statusCode, headers } = await apps['web app'].inject('/assets/app.js');
  expect([statusCode, headers['cross-origin-resource-policy'], headers['x-content-type-options']]).toEqual([
    200,
    'same-origin',
    'nosniff',
  ]);
});

test('an answer to a program has none of these headers, so it stays as small as it was', async () => {
  const { headers } = await apps.monolith.inject({
    method: 'GET',
    url: '/api/v1/matches',
    headers: { accept: 'application/json' },
  });
  for (const name of ['content-security-policy', 'permissions-policy', 'strict-transport-security'])
    expect(headers[name]).toBeUndefined();
});

test('without https there is no HSTS, unless a trusted proxy says that the request came by https', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-page-headers-'));
  const plain = await openWebApp(folder, {});
  const hsts = async (headers: Record<string, string>): Promise<unknown> =>
    (await plain.inject({ method: 'GET', url: '/', headers })).headers['strict-transport-security'];
  expect([await hsts({}), await hsts({ 'x-forwarded-proto': 'https' })]).toEqual([undefined, 'max-age=31536000']);
  await plain.close();
  rmSync(folder, { recursive: true });
});
