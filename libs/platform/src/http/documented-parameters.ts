/** A parameter of a documented operation. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  description?: string;
  schema?: { description?: string; type?: string; pattern?: string };
}

/** The singular of a path segment: `matches` → `match`, `orders` → `order`, `deliveries` → `delivery`. */
const singular = (segment: string): string =>
  segment
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|ss|x)es$/, '$1')
    .replace(/s$/, '')
    .replaceAll('-', ' ');

/**
 * Describes the path parameters that do not describe themselves by what they name: `{id}` after `matches` is the id of the match,
 * `{order_id}` that of the order. A description that is also in the schema is removed there.
 */
export function describePathParameters(path: string, parameters: readonly Parameter[]): void {
  const segments = path.split('/');
  for (const parameter of parameters) {
    if (parameter.in === 'path') {
      const before = segments[segments.indexOf(`{${parameter.name}}`) - 1] ?? '';
      const thing = /^(\w+)_id$/.exec(parameter.name)?.[1]?.replaceAll('_', ' ') ?? singular(before);
      parameter.description ||= `Id of the ${thing === 'user' ? 'fan' : thing}`;
    }
    if (parameter.schema?.description === parameter.description) delete parameter.schema?.description;
  }
}
