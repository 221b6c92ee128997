import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { z } from 'zod';
import { addExamples, completeOperation, DEFECT, OPTIONAL_BODY, type Operation } from './documented-operation.ts';
import { refusalsOf } from './documented-refusals.ts';
import { responseHeaders } from './documented-headers.ts';
import { mustHaveKey } from './endpoint.ts';
import { rowOf, type ErrorCode } from '#contracts/error-catalogue';
import { problem, problemsByCode } from '#contracts/problems';
import type { ServiceExamples } from '#contracts/recorded-examples';
import { projectVersion } from '../project-root.ts';
import { toProblem } from './problem.ts';
import { RequestRefused } from './request-refused.ts';
import { routesOf } from './route-table.ts';

/** Paths of the API documentation. The Swagger plugin registers these routes; they are public. */
export const apiDocsPrefixes = ['/openapi.json', '/docs', '/docs/', '/docs-json', '/docs-yaml'];

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * Removes details that a reader of the API description does not need: the bounds of the safe integers, and the pattern of a named
 * format. `additionalProperties: false` is removed from answers only: answers may get further members later, but a body with
 * unknown members is refused.
 */
function simplify(schema: JsonSchema, io: 'input' | 'output'): void {
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined) delete schema.pattern;
  describeTuple(schema);
}

/** Says of a tuple that it has exactly these elements. Many tools want `items` in every array. */
function describeTuple(schema: JsonSchema): void {
  if (!schema.prefixItems) return;
  const length = schema.prefixItems.length;
  Object.assign(schema, { items: {}, minItems: length, maxItems: length });
}

/** Converts a zod schema to JSON Schema 2020-12 for OpenAPI 3.1. Named schemas become components. */
function convert(
  schema: unknown,
  { schemaType }: { schemaType: 'input' | 'output' },
): { schema: unknown; components?: Record<string, unknown> } | undefined {
  if (!(schema instanceof z.ZodType)) return undefined;
  const whole = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: schemaType,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => simplify(jsonSchema, schemaType),
  });
  const pointed = JSON.stringify(whole).replaceAll('#/$defs/', '#/components/schemas/');
  const { $schema: _schema, $defs = {}, ...body } = JSON.parse(pointed) as JsonSchema;
  const components = Object.fromEntries(Object.entries($defs).map(([name, { id: _id, ...part }]) => [name, part]));
  return { schema: schema instanceof z.ZodOptional ? { ...body, [OPTIONAL_BODY]: true } : body, components };
}

/** What an app says about its API. Everything else comes from the declarations of its routes. */
export interface ApiFacts {
  readonly title: string;
  readonly description: string;
  /** The URL at which clients reach the service. */
  readonly url: string;
  /** The URL of the page of this installation, whose operator answers questions. */
  readonly contactUrl: string;
  /** Whether writing calls need an idempotency key. */
  readonly withKeys: boolean;
  /** The tags of the operations, each with its meaning. */
  readonly tags: Readonly<Record<string, string>>;
  readonly examples?: ServiceExamples;
  /** Another document that belongs to this API. */
  readonly seeAlso?: { readonly url: string; readonly description: string };
}

/** Builds the OpenAPI 3.1 document of an app from the schemas and rules of its routes. */
export function describeApi(app: NestFastifyApplication, facts: ApiFacts): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .addServer(facts.url.replace(/\/$/, ''), 'This installation')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'AUTH_MODE=jwt' }, 'bearer')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Mock-User-Id', description: 'AUTH_MODE=mock only' }, 'mockUser')
    .addApiKey(
      {
        type: 'apiKey',
        in: 'header',
        name: 'X-Mock-Roles',
        description: 'AUTH_MODE=mock only: roles, separated by commas, such as ops:sale,ops:money',
      },
      'mockRoles',
    )
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Internal-Auth', description: 'Between our own services' }, 'internal');
  for (const [name, description] of Object.entries(facts.tags)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), { standardSchemaConverter: convert });
  document.info = infoOf(facts) as OpenAPIObject['info'];
  if (facts.seeAlso) document.externalDocs = facts.seeAlso;
  const refusals = new Set<ErrorCode>();
  const rulesOf = new Map(routesOf(app).map(({ method, url, rules }) => [`${method} ${url}`, rules]));
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item as Record<string, Operation>)) {
      const route = `${method.toUpperCase()} ${path.replaceAll(/\{([^}]+)\}/g, ':$1')}`;
      const rules = rulesOf.get(route);
      if (!rules) throw new Error(`${route} is documented, but no such route declared its access`);
      const needsKey = facts.withKeys && mustHaveKey(method.toUpperCase(), rules);
      const codes = refusalsOf({ method: method.toUpperCase(), path, rules, needsKey });
      for (const code of codes) refusals.add(code);
      operation.operationId = rules.operationId ?? operation.operationId;
      completeOperation(operation, { path, rules, needsKey, codes });
      addExamples(operation, facts.examples?.operations[operation.operationId ?? '']);
    }
  }
  addComponents(document, refusals, facts.examples);
  return document;
}

/** The part `info` of an API description. */
export function infoOf({ title, description, contactUrl }: Pick<ApiFacts, 'title' | 'description' | 'contactUrl'>) {
  return {
    title,
    version: projectVersion(),
    description,
    contact: { name: 'The operator of this installation', url: contactUrl },
    license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
  };
}

/** Adds the response headers, and for each of these error codes its schema and an example. */
function addComponents(document: OpenAPIObject, codes: ReadonlySet<ErrorCode>, examples?: ServiceExamples): void {
  const components = (document.components ??= {});
  const schemas = [problem, ...[...codes].map((code) => problemsByCode.get(code))];
  const problems = schemas.map((schema) => convert(schema, { schemaType: 'output' })?.components);
  const all = Object.entries(Object.assign({ ...components.schemas }, ...problems) as Record<string, unknown>);
  components.schemas = sorted(all) as NonNullable<typeof components.schemas>;
  const used = JSON.stringify(document.paths);
  components.securitySchemes = Object.fromEntries(
    Object.entries(components.securitySchemes ?? {}).filter(
      ([name]) => used.includes(`{"${name}":[]`) || used.includes(`,"${name}":[]`),
    ),
  );
  components.headers = sorted(
    Object.entries(responseHeaders).filter(([name]) => used.includes(`"#/components/headers/${name}"`)),
  ) as NonNullable<typeof components.headers>;
  const exampleOf = (code: ErrorCode) => ({
    summary: rowOf(code).title,
    value: examples?.problems[code] ?? toProblem(new RequestRefused(code), EXAMPLE_REQUEST_ID).body,
  });
  const documented: readonly ErrorCode[] = [...codes, DEFECT];
  components.examples = sorted(documented.map((code) => [code, exampleOf(code)] as const));
}

const EXAMPLE_REQUEST_ID = '0198c2a0-0000-7000-8000-00000000a001';

const sorted = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));

/** Serves the OpenAPI document at `/openapi.json` and as pages at `/docs`. */
export function serveApiDocs(app: NestFastifyApplication, document: OpenAPIObject): void {
  SwaggerModule.setup('docs', app, document, { jsonDocumentUrl: 'openapi.json', customSiteTitle: document.info.title });
}
