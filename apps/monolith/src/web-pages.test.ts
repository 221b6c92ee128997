import Fastify from 'fastify';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monolithConfig } from './config.ts';
import { serveWebPages } from './web-pages.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'tribina-web-pages-'));
afterAll(() => rmSync(folder, { recursive: true }));

function writeBuild(name: string): void {
  mkdirSync(path.join(folder, 'assets'), { recursive: true });
  writeFileSync(path.join(folder, 'assets', `${name}.js`), `// ${name}`);
  writeFileSync(path.join(folder, 'index.html'), `<script src="/assets/${name}.js"></script>`);
}

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
  const after = [await get('/'), await get('/matches/1'), await get('/assets/first.js'), await get('/assets/second.js')];
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
