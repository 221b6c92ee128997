import type { FastifyContextConfig, FastifyRequest } from 'fastify';

type RouteRules = FastifyContextConfig & { readonly url: string };

declare module 'fastify' {
  interface FastifyRequest {
    rules?: RouteRules;
  }
}

/** What the route declares (endpoint.ts). Fastify puts `routeOptions` together anew each time it is asked for, and ten hooks ask. */
export function rulesOf(request: FastifyRequest): RouteRules {
  return (request.rules ??= request.routeOptions.config);
}
