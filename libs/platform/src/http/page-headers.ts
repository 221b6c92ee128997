import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rulesOf } from './route-rules.ts';

/** How long a browser uses only https for this host after it has seen an answer by https. */
const HSTS_SECONDS = 365 * 24 * 60 * 60;

/** An answer that shows nothing of its own, such as a problem: it loads nothing, and no site may put it into a frame. */
const plainPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What a page may ask the browser for. Everything is off, also for frames, except what `allowed` names. */
export function permissions(...allowed: readonly ('camera' | 'payment')[]): string {
  return features.map((feature) => `${feature}=${allowed.some((name) => name === feature) ? '(self)' : '()'}`).join(', ');
}
const features = [
  ...['accelerometer', 'autoplay', 'camera', 'display-capture', 'encrypted-media', 'fullscreen', 'geolocation', 'gyroscope'],
  ...['hid', 'idle-detection', 'magnetometer', 'microphone', 'midi', 'payment'],
  ...['publickey-credentials-create', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
];

/** The headers of every page. A handler may set its own Content-Security-Policy and Permissions-Policy before. */
const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': plainPolicy,
  'x-frame-options': 'DENY',
  'permissions-policy': permissions(),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * The pages of the API documents (Swagger UI). Their style sheet is also inline, as elements and as attributes; their scripts are files.
 * They call the service at its public address.
 */
const docsPolicy = (publicUrl: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src 'self'${publicUrl === undefined ? '' : ` ${new URL(publicUrl).origin}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** For the routes of plugins, which declare no access: files, and the API documents as JSON. */
const fileHeader = ['cross-origin-resource-policy', 'same-origin'] as const;

/** Adds the security headers to an answer that a browser opens as a page. */
export type SecurePage = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Returns a function that adds the headers of pages to an answer. `publicUrl` is the address at which browsers reach the service. The
 * header for https is sent if that address or the request, behind a trusted proxy, uses https.
 */
export function securePages(publicUrl: string | undefined): SecurePage {
  const docs = { ...pageHeaders, 'content-security-policy': docsPolicy(publicUrl) };
  const isPublicByHttps = publicUrl?.startsWith('https:') ?? false;
  return (request, reply) => {
    const headers = /^\/docs(\/|\?|$)/.test(request.url) ? docs : pageHeaders;
    for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) void reply.header(name, value);
    if (isPublicByHttps || request.protocol === 'https')
      void reply.header('strict-transport-security', `max-age=${HSTS_SECONDS}`);
  };
}

/**
 * Adds the headers to all answers in HTML, whatever route or plugin sends them, and to every other answer that a browser opens as a page,
 * for example a problem. Answers to programs stay as small as they were. Files of pages may be loaded by our own pages only.
 */
export function addPageHeaders(fastify: FastifyInstance, secure: SecurePage): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (isPage(request, reply)) secure(request, reply);
    else if (!request.is404 && rulesOf(request).access === undefined) void reply.header(...fileHeader);
    done(null, payload);
  });
}

/** True for an answer that a browser shows. */
export function isPage(request: FastifyRequest, reply: FastifyReply): boolean {
  const type = reply.getHeader('content-type');
  if (typeof type === 'string' && type.startsWith('text/html')) return true;
  return request.headers.accept?.includes('text/html') ?? false;
}
