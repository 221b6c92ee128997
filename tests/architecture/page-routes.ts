import { z } from 'zod';
import type { RouteFact } from './routes.ts';
import type { SourceFile } from './sources.ts';

/** The table of the routes that the page calls, as libs/contracts declares it. */
type PageRoutes = Readonly<
  Record<string, { readonly query?: z.ZodType; readonly body?: z.ZodType; readonly answer?: z.ZodType | readonly z.ZodType[] }>
>;

/** A body that a service also takes in another format is first made an object. The schema of that object is the last one. */
const lastSchema = (schema: z.ZodType | undefined): unknown => (schema instanceof z.ZodPipe ? schema.out : schema);

/** Routes of the page that no service has, or whose schemas are not those that the service declares. */
export function routesUnlikeTheServer(pageRoutes: PageRoutes, facts: readonly RouteFact[]): string[] {
  const served = new Map(facts.map((fact) => [fact.route, fact.schemas]));
  return Object.entries(pageRoutes).flatMap(([route, { query, body, answer }]) => {
    const schemas = served.get(route);
    if (!schemas) return [`no service has ${route}`];
    const differing = [
      ...(query === schemas.query ? [] : ['query']),
      ...(body === lastSchema(schemas.body) ? [] : ['body']),
      ...(isSameSet(answer ? [answer].flat() : [], schemas.answers) ? [] : ['answer']),
    ];
    return differing.map((part) => `${route}: the service declares another schema of the ${part}`);
  });
}

function isSameSet(declared: readonly z.ZodType[], served: readonly unknown[]): boolean {
  return declared.every((schema) => served.includes(schema)) && served.every((schema) => declared.includes(schema as z.ZodType));
}

/** Routes that are in the table and not called by the page, and paths in the page that are not in the table. */
export function routesUnlikeThePage(pageRoutes: PageRoutes, sources: readonly Pick<SourceFile, 'path' | 'text'>[]): string[] {
  const texts = sources.filter(({ path }) => path.startsWith('apps/web/')).map(({ text }) => text);
  const called = new Set(texts.flatMap((text) => text.match(/(?<=')[A-Z]+ \/api\/v1\/[^']*(?=')/g) ?? []));
  const known = new Set(Object.keys(pageRoutes));
  return [
    ...[...known].filter((route) => !called.has(route)).map((route) => `the page does not call ${route}`),
    ...[...called].filter((route) => !known.has(route)).map((route) => `the table does not have ${route}`),
  ];
}

/**
 * Files of the page that import libs/contracts at run time. Its schemas bring zod, which would make the script of the page 29 % larger; the page needs
 * only their types.
 */
export function runTimeImportsOfContracts(sources: readonly Pick<SourceFile, 'path' | 'text'>[]): string[] {
  const runTimeImport = /^(?:import (?!type\b)[^;]*from|import|export [^;]*from) '[^']*(?:#contracts\/|libs\/contracts\/)/m;
  return sources
    .filter(({ path, text }) => /^(apps\/web|libs\/queue-client)\//.test(path) && runTimeImport.test(text))
    .map(({ path }) => path);
}

/** Controllers that declare a schema themselves, instead of importing it from libs/contracts. */
export function controllersWithSchemas(sources: readonly Pick<SourceFile, 'path' | 'text'>[]): string[] {
  return sources
    .filter(({ path, text }) => path.endsWith('.controller.ts') && /\bz\s*\.[\w.]+\(/.test(text))
    .map(({ path }) => path);
}
