import { isPageAddress, pageAddresses } from '#contracts/page-addresses';
import { projectFile } from '#platform/project-root';
import { publicUrls } from '#platform/config/settings';
import { permissions } from '#platform/http/page-headers';
import { RequestRefused } from '#platform/http/request-refused';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fs from 'node:fs';
import path from 'node:path';
import type { MonolithConfig } from './config.ts';

/** The paths of the web app, which anybody may read: `/assets/` are all paths below. */
export const webPrefixes = ['/config.json', '/assets/', '/favicon.svg', ...pageAddresses];

/**
 * True if a browser opens this address as a page. Programs, and the scripts of pages, do not ask for HTML. They get problem+json, as
 * everybody does for an address of the API.
 */
function isPageVisit({ method, url, headers }: FastifyRequest): boolean {
  const isHtmlWanted = /(^|[\s,])text\/html\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(headers.accept ?? '');
  const isNavigation = (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate';
  return method === 'GET' && isHtmlWanted && isNavigation && !/^\/(api|\.well-known)(\/|\?|$)/.test(url);
}

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
 * What a page may ask the browser for: the scanner page the camera, the pages with a checkout the browser's wallets. A browser keeps the
 * policy of the document that it has loaded. So a link to one of these pages must load it, as soon as the page uses the camera or wallets.
 */
function permissionsOf(address: string): string {
  if (/^\/gate\/?$/.test(address)) return permissions('camera');
  return /^\/(matches\/[^/]+\/checkout|invitation)\/?$/.test(address) ? permissions('payment') : permissions();
}

/**
 * Serves the web app that `npm run build` wrote to dist/web. If it was not built (an API-only deployment), only /config.json is
 * served. An unknown address is answered 404, for a browser with the page, which then says so in the reader's language. Except in
 * production the page is read for each request, so that `npm run dev` can replace it without a restart.
 */
export async function serveWebPages(
  fastify: FastifyInstance,
  config: MonolithConfig,
  folder = projectFile('dist', 'web'),
): Promise<void> {
  const settings = {
    queue_url: publicUrls(config).queuePublicUrl,
    auth_mode: config.AUTH_MODE,
    roles_claim: config.JWT_ROLES_CLAIM,
  };
  fastify.get('/config.json', { config: { access: 'public', isStatic: true } }, (_request, reply) =>
    reply.header('cache-control', 'no-cache').send(settings),
  );
  const page = path.join(folder, 'index.html');
  if (!fs.existsSync(page)) return;
  await fastify.register(fastifyStatic, {
    root: path.join(folder, 'assets'),
    prefix: '/assets/',
    // The build has written compressed files beside the plain ones (tools/local/web-app.ts).
    preCompressed: true,
    // The file names contain a hash of the content, so a cached file never becomes stale.
    cacheControl: true,
    immutable: true,
    maxAge: '365d',
  });
  const security = contentSecurity(config);
  const readPage = () => fs.readFileSync(page, 'utf8');
  const html = config.NODE_ENV === 'production' ? readPage() : undefined;
  const sendPage = (request: FastifyRequest, reply: FastifyReply): void => {
    const [address = ''] = request.url.split('?', 1);
    const isKnown = isPageAddress(address);
    if (!isKnown && !isPageVisit(request)) throw new RequestRefused('NOT_FOUND');
    void reply
      .status(isKnown ? 200 : 404)
      .headers({
        'content-security-policy': security,
        'permissions-policy': permissionsOf(address),
        'cache-control': isKnown ? 'no-cache' : 'no-store',
      })
      .type('text/html; charset=utf-8')
      .send(html ?? readPage());
  };
  for (const url of pageAddresses) fastify.get(url, { config: { access: 'public', isStatic: true } }, sendPage);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.is404 && isPageVisit(request)) sendPage(request, reply);
    else done();
  });
  const icon = path.join(folder, 'favicon.svg');
  if (fs.existsSync(icon)) {
    const svg = fs.readFileSync(icon, 'utf8');
    fastify.get('/favicon.svg', { config: { access: 'public', isStatic: true } }, (_request, reply) =>
      reply.type('image/svg+xml').send(svg),
    );
  }
}
