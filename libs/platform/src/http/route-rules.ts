import type { FastifyContextConfig, FastifyRequest } from 'fastify';

type RouteRules = FastifyContextConfig & { readonly url: string };

declare module 'fastify' {
  interface FastifyRequest {
    rules?: RouteRules;
  }
}

/** The rules that the route declares (endpoint.ts). Cached: Fastify builds `routeOptions` anew on each access, and ten hooks read it. */
export function rulesOf(request: FastifyRequest): RouteRules {
  return (request.rules ??= request.routeOptions.config);
}
