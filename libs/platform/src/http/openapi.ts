import { STATUS_CODES } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { z } from 'zod';
import { refusalResponses, refusalsOf } from './documented-refusals.ts';
import { mustHaveKey, type EndpointRules } from './endpoint.ts';
import type { ErrorCode } from '#contracts/error-catalogue';
import { problem, problemsByCode } from '#contracts/problems';
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

/** Mark of an optional body schema inside this file: `convert` sets it, `completeOperation` reads and removes it. */
const OPTIONAL_BODY = 'x-may-be-left-out';

interface Operation {
  requestBody?: { required?: boolean; content: Record<string, { schema?: Record<string, unknown> }> };
  responses?: Record<string, { description: string; content?: unknown }>;
  security?: unknown[];
  parameters?: unknown[];
  'x-access'?: string;
}

const securityOf: Record<EndpointRules['access'], unknown[]> = {
  public: [],
  fan: [{ bearer: [] }, { mockUser: [] }],
  ops: [{ bearer: [] }, { mockUser: [], mockRoles: [] }],
  partner: [{ bearer: [] }, { mockUser: [], mockRoles: [] }],
  gate: [{ bearer: [] }, { mockUser: [], mockRoles: [] }],
  internal: [{ internal: [] }],
};

const keyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description: 'UUID v4, 32 lowercase hex digits. The same key and request is answered the same and done once.',
  schema: { type: 'string', pattern: '^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$' },
};

/** Builds the OpenAPI 3.1 document of an app from the schemas and rules of its routes. */
export function describeApi(
  app: NestFastifyApplication,
  about: { title: string; description: string; withKeys: boolean },
): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(about.title)
    .setDescription(about.description)
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'bearer')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Mock-User-Id', description: 'AUTH_MODE=mock only' }, 'mockUser')
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'X-Mock-Roles', description: 'AUTH_MODE=mock only: ops,partner,gate' },
      'mockRoles',
    )
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Internal-Auth', description: 'Between our own services' }, 'internal');
  const document = SwaggerModule.createDocument(app, builder.build(), { standardSchemaConverter: convert });
  delete document.info.contact;
  document.info.license = { name: 'Apache License 2.0', identifier: 'Apache-2.0' } as { name: string };
  const refusals = new Set<ErrorCode>();
  const rulesOf = new Map(routesOf(app).map(({ method, url, rules }) => [`${method} ${url}`, rules]));
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item as Record<string, Operation>)) {
      const route = `${method.toUpperCase()} ${path.replaceAll(/\{([^}]+)\}/g, ':$1')}`;
      const rules = rulesOf.get(route);
      if (!rules) throw new Error(`${route} is documented, but no such route declared its access`);
      const withKey = about.withKeys && mustHaveKey(method.toUpperCase(), rules);
      const codes = refusalsOf({ method: method.toUpperCase(), path, rules, needsKey: withKey });
      for (const code of codes) refusals.add(code);
      completeOperation(operation, rules, { withKey, codes });
    }
  }
  nameProblems(document, refusals);
  return document;
}

/** Adds the schemas of these error codes to the components of the document. */
function nameProblems(document: OpenAPIObject, codes: ReadonlySet<ErrorCode>): void {
  const components = (document.components ??= {});
  const schemas = [problem, ...[...codes].map((code) => problemsByCode.get(code))];
  const problems = schemas.map((schema) => convert(schema, { schemaType: 'output' })?.components);
  const all = Object.entries(Object.assign({ ...components.schemas }, ...problems) as Record<string, unknown>);
  components.schemas = Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1))) as NonNullable<typeof components.schemas>;
}

function completeOperation(
  operation: Operation,
  rules: EndpointRules,
  { withKey, codes }: { withKey: boolean; codes: readonly ErrorCode[] },
): void {
  operation.security = securityOf[rules.access];
  operation['x-access'] = rules.access;
  for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
    if (operation.requestBody && schema?.[OPTIONAL_BODY]) operation.requestBody.required = false;
    delete schema?.[OPTIONAL_BODY];
  }
  const responses = (operation.responses ??= {});
  for (const [status, response] of Object.entries(responses)) response.description ||= STATUS_CODES[status] ?? 'Success';
  Object.assign(responses, refusalResponses(codes));
  responses.default = {
    description: 'A refusal of the connection (408, 431), or a defect (500).',
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
  if (withKey) (operation.parameters ??= []).push(keyParameter);
}

/** Serves the OpenAPI document at `/openapi.json` and as pages at `/docs`. */
export function serveApiDocs(app: NestFastifyApplication, document: OpenAPIObject): void {
  SwaggerModule.setup('docs', app, document, { jsonDocumentUrl: 'openapi.json', customSiteTitle: document.info.title });
}
