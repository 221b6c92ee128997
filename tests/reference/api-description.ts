import { operationsOf, referencesOf, type OpenApiDocument } from './openapi-document.ts';

type Operation = ReturnType<typeof operationsOf>[number];
interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema | false;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

/** A verb and its object in lowerCamelCase, such as `listMatches`. */
const OPERATION_ID = /^[a-z]+([A-Z][a-z0-9]*)+$/;

/** What an API description owes its readers and does not have. Each fault says what to do. */
export function faultsOf(document: OpenApiDocument): string[] {
  return [
    ...documentFaults(document),
    ...operationsOf(document).flatMap((operation) =>
      [...nameFaults(operation, document), ...textFaults(operation), ...exampleFaults(operation, document)].map(
        (fault) => `${operation.method} ${operation.path}: ${fault}`,
      ),
    ),
    ...schemaFaults(document),
  ];
}

function documentFaults({ info, servers, tags, ...document }: OpenApiDocument): string[] {
  const used = operationsOf({ info, servers, tags, ...document }).flatMap(({ operation }) => operation.tags ?? []);
  return [
    ...(/^\d+\.\d+\.\d+/.test(info.version) ? [] : ['`info` has no version']),
    ...(info.description && info.license ? [] : ['`info` has no description or no license']),
    ...(servers.length > 0 ? [] : ['there are no servers']),
    ...tags.filter(({ description }) => !description).map(({ name }) => `the tag \`${name}\` has no description`),
    ...tags.filter(({ name }) => !used.includes(name)).map(({ name }) => `no operation has the tag \`${name}\``),
  ];
}

function nameFaults({ operation }: Operation, document: OpenApiDocument): string[] {
  const { operationId: id, tags = [] } = operation;
  const twins = operationsOf(document).filter((other) => other.operation.operationId === id);
  return [
    ...(OPERATION_ID.test(id) ? [] : [`\`${id}\` is no operation id: write @Endpoint({ operationId: 'listMatches', … })`]),
    ...(twins.length === 1 ? [] : [`another operation has the id \`${id}\``]),
    ...(tags.length === 1 ? [] : ['write one @ApiTags above the controller']),
    ...tags
      .filter((tag) => !document.tags.some(({ name }) => name === tag))
      .map((tag) => `say in api-facts.ts of the app what the tag \`${tag}\` means`),
  ];
}

function textFaults({ operation }: Operation): string[] {
  return [
    ...(operation.summary && operation.description ? [] : ['write @ApiOperation({ summary, description })']),
    ...(operation.parameters ?? [])
      .filter(({ description }) => !description)
      .map(({ name }) => `the parameter \`${name}\` has no description: give its schema .meta({ description })`),
  ];
}

/** The types of the bodies that need an example. A PDF or an SVG needs none. */
const NEEDS_EXAMPLE = new Set(['application/json', 'text/event-stream']);

function exampleFaults({ operation }: Operation, { components }: OpenApiDocument): string[] {
  const missing = 'has no example: let a story in tests/reference/live get it, then `npm run docs`';
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  const responses = Object.entries(operation.responses);
  const successes = responses.flatMap(([status, { content = {} }]) =>
    Object.entries(content).filter(
      ([type, { example }]) => status.startsWith('2') && NEEDS_EXAMPLE.has(type) && example === undefined,
    ),
  );
  const refusals = responses.flatMap(([status, { content }]) => {
    const { schema, examples = {} } = content?.['application/problem+json'] ?? {};
    const codes = referencesOf(schema).map((reference) => codeOf(components.schemas[reference.split('/').at(-1) ?? '']));
    return codes.filter((code) => code && !(code in examples)).map((code) => `${status} ${code}`);
  });
  return [
    ...bodies.filter(([, { examples = {} }]) => Object.keys(examples).length === 0).map(() => `the request body ${missing}`),
    ...successes.map(([type]) => `the answer (${type}) ${missing}`),
    ...refusals.map((refusal) => `the refusal ${refusal} has no example`),
  ];
}

function codeOf(problem: unknown): string | undefined {
  return (problem as { properties?: { code?: { const?: string } } } | undefined)?.properties?.code?.const;
}

/** Properties of any schema without a description, or without a word about null where they may be null. */
function schemaFaults(document: OpenApiDocument): string[] {
  const named = Object.entries(document.components.schemas).flatMap(([name, schema]) => propertyFaults(schema as Schema, name));
  const inline = operationsOf(document).flatMap(({ path, method, operation }) => {
    const bodies = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    return bodies.flatMap(({ schema }) => propertyFaults((schema ?? {}) as Schema, `${method} ${path}`));
  });
  return [...new Set([...named, ...inline])].map((fault) => `${fault}: give the field .meta({ description }) in libs/contracts`);
}

/** Properties of a schema, at any depth, that are not described. */
export function propertyFaults(schema: Schema, where: string): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = `${where}.${name}`;
    const text = property.description;
    if (!text && !property.$ref) return [`${path} has no description`];
    return [
      ...(canBeNull(property) && !/\bnull\b/i.test(text ?? '') ? [`${path} does not say when it is null`] : []),
      ...propertyFaults(property, path),
    ];
  });
  const { anyOf = [], oneOf = [], prefixItems = [], items, additionalProperties } = schema;
  const parts = [...anyOf, ...oneOf, ...prefixItems, items, additionalProperties].filter((part) => typeof part === 'object');
  return [...own, ...parts.flatMap((part) => propertyFaults(part, where))];
}

function canBeNull({ type, anyOf = [] }: Schema): boolean {
  return type === 'null' || (Array.isArray(type) && type.includes('null')) || anyOf.some(canBeNull);
}
