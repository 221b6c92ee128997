// Renders a zod schema as a table of its fields, for the pages under docs/reference.
import { z } from 'zod';
import { markdownTable } from './markdown-table.ts';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: string | number;
  readonly default?: string | number;
  readonly enum?: readonly (string | number)[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly prefixItems?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
  readonly description?: string;
}

/** The JSON schema of the values that a zod schema returns. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as JsonSchema;
}

function typeOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(' or ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (typeof schema.type === 'object') return schema.type.join(' or ');
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(', ')}]`;
  if (schema.type === 'array')
    return `list of ${schema.items?.properties ? 'objects' : typeOf(schema.items ?? {})}${schema.maxItems ? `, at most ${schema.maxItems}` : ''}`;
  return (
    { uuid: 'UUID', 'date-time': 'time', uri: 'URL', email: 'e-mail address' }[schema.format ?? ''] ?? schema.type ?? 'anything'
  );
}

function rowsOf(schema: JsonSchema, path: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const hasDefault = member.default !== undefined;
    const isOptional = hasDefault || !schema.required?.includes(name);
    const absent = isOptional ? `, optional${hasDefault ? ` (default \`${member.default}\`)` : ''}` : '';
    const inner = member.items?.properties ? rowsOf(member.items, `${here}[]`) : rowsOf(member, here);
    return [[`\`${here}\``, `${typeOf(member)}${absent}`], ...inner];
  });
}

/** The fields of a schema as a Markdown table. */
export function fieldTable(schema: z.ZodType): string {
  return markdownTable(['Field', 'Type'], rowsOf(toJsonSchema(schema), ''));
}

/** The variants of a discriminated union, each with its value of the discriminator field. */
export function variantsOf(union: z.ZodType, discriminator: string): (readonly [name: string, schema: z.ZodType])[] {
  const { options } = union as unknown as { options: readonly z.ZodObject[] };
  return options.map((option) => [(option.shape[discriminator] as z.ZodLiteral<string>).value, option] as const);
}
