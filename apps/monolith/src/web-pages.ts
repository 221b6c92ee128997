import { projectFile } from '#platform/project-root';
import { publicUrls } from '#platform/config/settings';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import fs from 'node:fs';
import path from 'node:path';
import type { MonolithConfig } from './config.ts';

/** Routes of the web app. All of them answer the same HTML document; the browser renders the page. */
const PAGES = ['/', '/matches/*', '/orders/*', '/orders', '/tickets', '/tickets/*', '/ops', '/ops/*'];

/** The paths of the web app, which anybody may read: `/` is the home page only, `/assets/` and `/x/*` are all paths below. */
export const webPrefixes = ['/config.json', '/assets/', '/favicon.svg', ...PAGES];

/**
 * The Content-Security-Policy of the pages: they load only our own files and call only our two services, and no other site may
 * put a page into a frame.
 */
function contentSecurity(config: MonolithConfig): string {
  const { publicUrl, queuePublicUrl } = publicUrls(config);
  const queue = [queuePublicUrl, queuePublicUrl.replace(/^http/, 'ws')];
  const hosts =
    config.NODE_ENV === 'production'
      ? queue
      : [...queue, ...queue.map((url) => url.replace('127.0.0.1', 'localhost')), publicUrl];
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "font-src 'self'",
    `connect-src 'self' ${[...new Set(hosts)].join(' ')}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Serves the web app that `npm run build` wrote to dist/web. If it was not built (an API-only deployment), only /config.json is
 * served. Except in production the page is read for each request, so that `npm run dev` can replace it without a restart.
 */
export async function serveWebPages(
  fastify: FastifyInstance,
  config: MonolithConfig,
  folder = projectFile('dist', 'web'),
): Promise<void> {
  const settings = { queue_url: publicUrls(config).queuePublicUrl, auth_mode: config.AUTH_MODE };
  fastify.get('/config.json', { config: { access: 'public', noAddressLimit: true } }, (_request, reply) =>
    reply.header('cache-control', 'no-cache').send(settings),
  );
  const page = path.join(folder, 'index.html');
  if (!fs.existsSync(page)) return;
  await fastify.register(fastifyStatic, {
    root: path.join(folder, 'assets'),
    prefix: '/assets/',
    // The file names contain a hash of the content, so a cached file never becomes stale.
    cacheControl: true,
    immutable: true,
    maxAge: '365d',
  });
  const security = contentSecurity(config);
  const readPage = () => fs.readFileSync(page, 'utf8');
  const html = config.NODE_ENV === 'production' ? readPage() : undefined;
  const sendPage = (_request: unknown, reply: FastifyReply): FastifyReply =>
    reply
      .headers({ 'content-security-policy': security, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(html ?? readPage());
  for (const url of PAGES) fastify.get(url, { config: { access: 'public', noAddressLimit: true } }, sendPage);
  const icon = path.join(folder, 'favicon.svg');
  if (fs.existsSync(icon)) {
    const svg = fs.readFileSync(icon, 'utf8');
    fastify.get('/favicon.svg', { config: { access: 'public', noAddressLimit: true } }, (_request, reply) =>
      reply.type('image/svg+xml').send(svg),
    );
  }
}
