import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { IdentifyCaller } from './identity.ts';
import { RequestRefused } from './request-refused.ts';

/** Compares in constant time; a length that differs is told apart, as it is not the secret. */
export function sameSecret(given: unknown, expected: string): boolean {
  if (typeof given !== 'string') return false;
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export function hasInternalAuth(request: FastifyRequest, internalSecret: string): boolean {
  return sameSecret(request.headers['x-internal-auth'], internalSecret);
}

/** Deny by default: a route that does not say who may call it stops the start. */
export function requireDeclaredAccess(fastify: FastifyInstance, publicPrefixes: readonly string[]): void {
  // `/` is the page itself and not everything below it.
  const isPublic = (url: string): boolean =>
    publicPrefixes.some((prefix) => url === prefix || (prefix !== '/' && prefix.endsWith('/') && url.startsWith(prefix)));
  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.access || isPublic(route.url)) return;
    // The CORS plugin's own: answers preflights of every path.
    if (route.method === 'OPTIONS' && route.url === '*') return;
    throw new Error(`${String(route.method)} ${route.url} does not declare who may call it: add @Endpoint({ access: … }).`);
  });
}

/**
 * Lets through who the route declares. A Fastify hook, not Nest middleware: path tricks have walked around the latter,
 * and a hook belongs to the route that was matched, however the path was written.
 */
export function guardAccess(fastify: FastifyInstance, options: { identify: IdentifyCaller; internalSecret: string }): void {
  fastify.addHook('preValidation', async (request) => {
    const access = request.routeOptions.config.access ?? 'public';
    if (access === 'public') return;
    if (access === 'internal') {
      if (!hasInternalAuth(request, options.internalSecret)) throw new RequestRefused('UNAUTHENTICATED');
      return;
    }
    request.caller = await options.identify(request.headers);
    if (!request.caller) throw new RequestRefused('UNAUTHENTICATED', { detail: 'Credentials are missing or not valid.' });
    if (access !== 'fan' && !request.caller.roles.includes(access)) {
      throw new RequestRefused('FORBIDDEN', { detail: `This call needs the role ${access}.` });
    }
  });
}
