import { rolesWith } from '#contracts/roles';
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { CallerIdentity } from './caller.ts';
import type { Access } from './endpoint.ts';
import type { IdentifyCaller } from './identity.ts';
import { RequestRefused } from './request-refused.ts';
import { rulesOf } from './route-rules.ts';

/**
 * True if the request has one of the secrets of our own services in the header X-Internal-Auth. There are several while a secret is
 * replaced. They are compared in constant time: timing can reveal only the length, which is not secret.
 */
export function hasInternalAuth({ headers }: FastifyRequest, internalSecrets: readonly string[]): boolean {
  const text = headers['x-internal-auth'];
  if (typeof text !== 'string') return false;
  const given = Buffer.from(text);
  return internalSecrets.some((secret) => {
    const accepted = Buffer.from(secret);
    return given.length === accepted.length && timingSafeEqual(given, accepted);
  });
}

/**
 * Deny by default: registering a route that does not declare who may call it (`access`) throws, so the service does not start.
 */
export function requireDeclaredAccess(fastify: FastifyInstance, publicPrefixes: readonly string[]): void {
  // A prefix that ends with `/` covers all paths below it, except the prefix `/`, which is only the start page.
  const isPublic = (url: string): boolean =>
    publicPrefixes.some((prefix) => url === prefix || (prefix !== '/' && prefix.endsWith('/') && url.startsWith(prefix)));
  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.access || isPublic(route.url)) return;
    throw new Error(`${String(route.method)} ${route.url} does not declare who may call it: add @Endpoint({ access: … }).`);
  });
}

/**
 * Admits the callers that the route declares. This is a Fastify hook and not Nest middleware, because unusual spellings of a path
 * have bypassed middleware; a hook runs for the route that was matched. When nothing has to be awaited, the hook calls `done` at
 * once without a promise, like the other hooks.
 */
export function guardAccess(
  fastify: FastifyInstance,
  options: { identify: IdentifyCaller; internalSecrets: readonly string[] },
): void {
  fastify.addHook('preValidation', (request, _reply, done) => {
    const { access = 'public' } = rulesOf(request);
    if (access === 'public') return done();
    if (access === 'internal')
      return hasInternalAuth(request, options.internalSecrets) ? done() : done(new RequestRefused('UNAUTHENTICATED'));
    const found = options.identify(request.headers);
    if (found instanceof Promise) return found.then((caller) => admit(request, caller, access));
    admit(request, found, access);
    done();
  });
}

function admit(request: FastifyRequest, caller: CallerIdentity | undefined, access: Access): void {
  if (!caller) throw new RequestRefused('UNAUTHENTICATED', { detail: 'Credentials are missing or not valid.' });
  const roles = rolesWith(access);
  if (roles && !roles.some((role) => caller.roles.includes(role)))
    throw new RequestRefused('FORBIDDEN', { detail: `This call needs ${namesOf(roles)}.` });
  request.caller = caller;
}

function namesOf(roles: readonly string[]): string {
  return roles.length === 1 ? `the role ${roles[0]}` : `one of the roles ${roles.join(', ')}`;
}
