import { RequestMethod } from '@nestjs/common';
import { globSync } from 'node:fs';
import path from 'node:path';
import 'reflect-metadata';
import type { z } from 'zod';
import type { EndpointRules } from '#platform/http/endpoint';
import { inputOf } from '#platform/http/input-fields';
import { Answers } from '#platform/idempotency/answers';

const root = path.resolve(import.meta.dirname, '../..');

/** The decorator metadata of one route handler. */
export interface RouteFact {
  readonly app: string;
  readonly route: string;
  readonly method: string;
  readonly rules: Partial<EndpointRules> | undefined;
  /** The schemas that the handler declares: of its query, its body, and its answers with a status of 2xx. */
  readonly schemas: { readonly query?: z.ZodType; readonly body?: z.ZodType; readonly answers: readonly z.ZodType[] };
  /**
   * Whether the controller of the route uses the class `Answers`. It stores the answer under the idempotency key of the request, in
   * the same transaction as the effect of the request.
   */
  readonly storesAnswers: boolean;
}

type Class = { readonly name: string; readonly prototype: Record<string, unknown> };

const isController = (exported: unknown): exported is Class =>
  typeof exported === 'function' && Reflect.hasMetadata('__controller__', exported);

function factsOf(app: string, controller: Class): RouteFact[] {
  const base = Reflect.getMetadata('path', controller) as string;
  const dependencies = (Reflect.getMetadata('design:paramtypes', controller) ?? []) as unknown[];
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler = name === 'constructor' ? undefined : (controller.prototype[name] as object);
    const method = handler && (Reflect.getMetadata('method', handler) as RequestMethod | undefined);
    if (!handler || method === undefined) return [];
    const handlerPath = Reflect.getMetadata('path', handler) as string;
    const route = `${RequestMethod[method]} /${[base, handlerPath].filter((part) => part !== '/').join('/')}`;
    const rules = Reflect.getMetadata('__fastify_route_config__', handler) as Partial<EndpointRules> | undefined;
    const schemas = schemasOf(controller.prototype, name);
    return [{ app, route, method: RequestMethod[method] ?? '', rules, schemas, storesAnswers: dependencies.includes(Answers) }];
  });
}

function schemasOf(prototype: Class['prototype'], name: string): RouteFact['schemas'] {
  const inputs = inputOf(prototype.constructor as object, name);
  const whole = (part: 'query' | 'body') => inputs.find((input) => input.part === part && input.name === undefined)?.schema;
  const responses = (Reflect.getMetadata('swagger/apiResponse', prototype[name] as object) ?? {}) as Record<
    string,
    { standardSchema?: z.ZodType }
  >;
  const answers = Object.entries(responses).flatMap(([status, { standardSchema }]) =>
    status.startsWith('2') ? (standardSchema ?? []) : [],
  );
  return { query: whole('query'), body: whole('body'), answers };
}

/** Every route of every service, read from the metadata of its controllers. */
export async function allRoutes(): Promise<RouteFact[]> {
  const files = globSync('apps/*/src/**/*.controller.ts', { cwd: root }).sort();
  const facts = await Promise.all(
    files.map(async (file) => {
      const exported = Object.values((await import(path.join(root, file))) as Record<string, unknown>);
      return exported.filter(isController).flatMap((controller) => factsOf(file.split('/')[1] ?? '', controller));
    }),
  );
  return facts.flat();
}

const isMutating = ({ method }: RouteFact): boolean => ['POST', 'PUT', 'PATCH'].includes(method);

/** Routes that do not declare who may call them. */
export function routesWithoutAccess(facts: readonly RouteFact[]): string[] {
  return facts.filter(({ rules }) => !rules?.access).map(({ route }) => `${route} does not say who may call it`);
}

/** Mutating routes that neither take an idempotency key nor are in `exempt`: the routes that need no key, each with its reason. */
export function idempotencyKeyFaults(facts: readonly RouteFact[], exempt: Readonly<Record<string, string>>): string[] {
  const faults = facts.filter(isMutating).flatMap(({ route, rules, storesAnswers }) => {
    if (rules?.noKeyBecause)
      return exempt[route] === rules.noKeyBecause
        ? []
        : [`${route} takes no key because "${rules.noKeyBecause}", but the list of exemptions does not have this reason`];
    if (exempt[route]) return [`${route} is exempt, but takes a key`];
    // An idempotency key belongs to a caller. On a route without an identified caller it would protect nothing.
    if (rules?.access === 'public' || rules?.access === 'internal')
      return [`${route} is mutating, has no caller, and does not declare why it takes no key`];
    return storesAnswers ? [] : [`${route} takes a key, but its controller does not store the answer with the effect`];
  });
  const known = new Set(facts.map(({ route }) => route));
  return [
    ...faults,
    ...Object.keys(exempt)
      .filter((route) => !known.has(route))
      .map((route) => `${route} is exempt, but does not exist`),
  ];
}
