import type { DeclaredRoute } from '#platform/http/route-table';
import { inject } from './calls.ts';
import type { Service } from './system.ts';

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly const?: unknown;
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>>;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** The parts of an OpenAPI document that the tests read. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The OpenAPI document that the service serves. */
export async function readOpenApi(service: Service): Promise<OpenApi> {
  const { text } = await inject(service, { method: 'GET', url: '/openapi.json', headers: {} });
  return JSON.parse(text) as OpenApi;
}

/** The documented schema of the request body of a route. */
export function bodySchema(api: OpenApi, { method, url }: DeclaredRoute): Schema | undefined {
  const operation = api.paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  return operation?.requestBody?.content['application/json']?.schema;
}

/** Paths of all fields of a schema and its variants, such as `sectors[].rows`. */
export function fieldsOf(schema: Schema | undefined, api: OpenApi, path = ''): Set<string> {
  if (!schema) return new Set();
  if (schema.$ref) return fieldsOf(api.components.schemas[schema.$ref.split('/').at(-1) ?? ''], api, path);
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((variant) => [...fieldsOf(variant, api, path)]);
  const items = fieldsOf(schema.items, api, `${path}[]`);
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const memberPath = path === '' ? name : `${path}.${name}`;
    return [memberPath, ...fieldsOf(member, api, memberPath)];
  });
  return new Set([...variants, ...items, ...members]);
}

/** All documented answers of a route, in the form of `Answer.outcome`: `200`, `400 VALIDATION_FAILED`. */
export function documentedAnswers(api: OpenApi, { method, url }: DeclaredRoute): ReadonlySet<string> {
  const { responses = {} } = api.paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] ?? {};
  const answers = Object.entries(responses).flatMap(([status, { content }]) => {
    const refusal = content?.['application/problem+json']?.schema;
    if (!refusal) return [status];
    return (refusal.oneOf ?? [refusal]).map((problem) => {
      const schema = api.components.schemas[problem.$ref?.split('/').at(-1) ?? ''];
      return `${status} ${String(schema?.properties?.code?.const)}`;
    });
  });
  return new Set(answers);
}
