import type { FastifyContextConfig, FastifyRequest } from 'fastify';

type RouteRules = FastifyContextConfig & { readonly url: string };

declare module 'fastify' {
  interface FastifyRequest {
    rules?: RouteRules;
  }
}

/**
 * Returns the rules that the route of a request declares (endpoint.ts). The result is cached: Fastify builds `routeOptions` anew
 * on each access, and ten hooks read it.
 */
export function rulesOf(request: FastifyRequest): RouteRules {
  return (request.rules ??= request.routeOptions.config);
}
