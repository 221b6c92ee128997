import { createHttpApp } from '#platform/http/http-app';
import { identifyMock } from '#platform/http/identity';
import { INTERNAL_SECRET, silentLogger } from '#testing/test-http-app';
import { Controller, Get } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { publishWebApp } from '../../../tools/local/web-app.ts';
import { monolithConfig } from './config.ts';
import { Endpoint } from '#platform/http/endpoint';
import { serveWebPages, webPrefixes } from './web-pages.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'tribina-web-pages-'));
afterAll(() => rmSync(folder, { recursive: true }));

function writeBuild(name: string): void {
  mkdirSync(path.join(folder, 'assets'), { recursive: true });
  writeFileSync(path.join(folder, 'assets', `${name}.js`), `// ${name}`);
  writeFileSync(path.join(folder, 'index.html'), `<script src="/assets/${name}.js"></script>`);
}

const MATCH_ID = '01938f5e-7c1a-7b3c-9d2e-0123456789ab';

/** Reads a path of the monolith's pages before and after a second build is published in the served folder. */
async function pages(environment: 'development' | 'production') {
  writeBuild('first');
  const fastify = Fastify();
  const config = monolithConfig.parse({ NODE_ENV: environment, DATABASE_URL: 'postgres://x/y', REDIS_URL: 'redis://x' });
  await serveWebPages(fastify, config, folder);
  const get = async (url: string) => {
    const { statusCode, body } = await fastify.inject(url);
    return `${statusCode} ${body}`;
  };
  const before = await get('/');
  writeBuild('second');
  const after = [
    await get('/'),
    await get(`/matches/${MATCH_ID}`),
    await get('/assets/first.js'),
    await get('/assets/second.js'),
  ];
  await fastify.close();
  return { before, after };
}

test('in development the page names the new build without a restart, and the old asset is still served', async () => {
  expect(await pages('development')).toEqual({
    before: '200 <script src="/assets/first.js"></script>',
    after: [
      '200 <script src="/assets/second.js"></script>',
      '200 <script src="/assets/second.js"></script>',
      '200 // first',
      '200 // second',
    ],
  });
});

test('in production the page is read once, when the monolith starts', async () => {
  const { before, after } = await pages('production');
  expect(after.slice(0, 2)).toEqual([before, before]);
});

@Controller('api/v1/matches')
class MatchesController {
  @Get()
  @Endpoint({ access: 'public' })
  list(): unknown {
    return { items: [] };
  }
}

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const script = `// ${'a line of a script that is built for the page. '.repeat(200)}`;

describe('the page in an app with our hooks', () => {
  let app: NestFastifyApplication;
  const call = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    app.inject({ method, url, headers });

  beforeAll(async () => {
    const [built, served] = [path.join(folder, 'built'), path.join(folder, 'served')];
    mkdirSync(path.join(built, 'assets'), { recursive: true });
    writeFileSync(path.join(built, 'assets', 'app-1.js'), script);
    writeFileSync(path.join(built, 'index.html'), '<p>the page</p>');
    publishWebApp(built, served);
    app = await createHttpApp(
      { module: class TestModule {}, controllers: [MatchesController] },
      {
        logger: silentLogger,
        identify: identifyMock,
        internalSecrets: [INTERNAL_SECRET],
        trustedProxies: [],
        isAllowedOrigin: () => false,
        requestDeadlineMs: 20_000,
        publicPrefixes: webPrefixes,
      },
    );
    const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
    const config = monolithConfig.parse({ DATABASE_URL: 'postgres://x/y', REDIS_URL: 'redis://x' });
    await serveWebPages(fastify, config, served);
    await app.init();
    await fastify.ready();
  });
  afterAll(() => app.close());

  test.each([
    ['/'],
    ['/?lang=hr'],
    [`/matches/${MATCH_ID}`],
    [`/matches/${MATCH_ID}/checkout`],
    [`/orders/${MATCH_ID}`],
    ['/tickets'],
    ['/tickets/'],
    ['/ops'],
    [`/ops?match=${MATCH_ID}`],
  ])('a browser that reloads %s gets the page with 200', async (url) => {
    const { statusCode, body } = await call(url, { accept: HTML });
    expect([statusCode, body]).toEqual([200, '<p>the page</p>']);
  });

  test.each([
    ['GET', '/nowhere', HTML, 'page'],
    ['GET', '/matches', HTML, 'page'],
    ['GET', '/matches/1', HTML, 'page'],
    ['GET', '/orders', HTML, 'page'],
    ['GET', '/ops/elsewhere?x=1', HTML, 'page'],
    ['GET', '/apis', 'text/html', 'page'],
    ['POST', '/matches/1', HTML, 'problem'],
    ['GET', '/nowhere', '*/*', 'problem'],
    ['GET', '/matches/1', '*/*', 'problem'],
    ['GET', '/nowhere', 'application/json', 'problem'],
    ['GET', '/nowhere', 'text/html;q=0, application/json', 'problem'],
    ['GET', '/nowhere', 'text/html-like', 'problem'],
    ['GET', '/api', HTML, 'problem'],
    ['GET', '/api/v1/nowhere', HTML, 'problem'],
    ['GET', '/api/v2/matches', HTML, 'problem'],
    ['GET', '/.well-known/nothing', HTML, 'problem'],
    ['POST', '/nowhere', HTML, 'problem'],
    ['GET', '/assets/nowhere.js', '*/*', 'problem'],
  ] as const)('%s %s with Accept: %s is 404 with the %s', async (method, url, accept, what) => {
    const { statusCode, headers, body } = await call(url, { accept }, method);
    expect(statusCode).toBe(404);
    if (what === 'problem') {
      expect(headers['content-type']).toContain('application/problem+json');
      expect(JSON.parse(body)).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    } else {
      expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(body).toBe('<p>the page</p>');
    }
  });

  test('a file of a build that was replaced is 404, and no cache keeps that as it keeps the files themselves', async () => {
    const { statusCode, headers } = await call('/assets/staff-pages-Dk3f0000.js', { 'accept-encoding': 'br, gzip' });
    expect([statusCode, headers['cache-control']]).toEqual([404, 'no-store']);
  });

  test('a script that asks for HTML, such as fetch() of a page, gets problem+json for an unknown address', async () => {
    const { statusCode, headers } = await call('/nowhere', { accept: HTML, 'sec-fetch-mode': 'cors' });
    expect([statusCode, headers['content-type']]).toEqual([404, expect.stringContaining('application/problem+json')]);
  });

  test.each([
    ['br, gzip', 'br', zlib.brotliDecompressSync],
    ['gzip, deflate', 'gzip', zlib.gunzipSync],
  ])('a script travels compressed to a browser that accepts %s', async (accepted, encoding, decompress) => {
    const { headers, rawPayload } = await call('/assets/app-1.js', { 'accept-encoding': accepted });
    expect(headers).toMatchObject({
      'content-encoding': encoding,
      'content-type': expect.stringContaining('javascript'),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: expect.stringContaining('accept-encoding'),
    });
    expect(rawPayload.length).toBeLessThan(script.length / 10);
    expect(decompress(rawPayload).toString()).toBe(script);
  });

  test('each encoding of a script has its own ETag, 304 and HEAD work as before, and a range is cut from the plain file', async () => {
    const etags = [];
    for (const accepted of ['br', 'gzip', 'identity']) {
      const headers = { 'accept-encoding': accepted };
      const { etag } = (await call('/assets/app-1.js', headers)).headers;
      etags.push(etag);
      expect((await call('/assets/app-1.js', { ...headers, 'if-none-match': String(etag) })).statusCode).toBe(304);
      expect((await call('/assets/app-1.js', headers, 'HEAD')).headers.etag).toBe(etag);
    }
    expect(new Set(etags).size).toBe(3);
    const range = await call('/assets/app-1.js', { range: 'bytes=0-9' });
    expect([range.statusCode, range.body]).toEqual([206, script.slice(0, 10)]);
  });
});
