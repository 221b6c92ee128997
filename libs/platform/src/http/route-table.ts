import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { EndpointRules } from './endpoint.ts';

/** A registered route. Routes of plugins (static files, API docs) declare no rules; they are public by their path prefix. */
export interface DeclaredRoute {
  readonly method: string;
  /** The path with its parameters as `:name`. */
  readonly url: string;
  readonly rules: EndpointRules | undefined;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly routeTable: DeclaredRoute[];
  }
}

/** Records every route that is registered after this call, for the API documents and for tests that check all routes. */
export function keepRouteTable(fastify: FastifyInstance): void {
  fastify.decorate('routeTable', []);
  fastify.addHook('onRoute', (route: RouteOptions) => {
    const rules = route.config?.access ? (route.config as EndpointRules) : undefined;
    for (const method of [route.method].flat()) fastify.routeTable.push({ method, url: route.url, rules });
  });
}

/** The routes that `keepRouteTable` has recorded. */
export function routesOf(app: NestFastifyApplication): readonly DeclaredRoute[] {
  return (app.getHttpAdapter().getInstance() as unknown as FastifyInstance).routeTable;
}
