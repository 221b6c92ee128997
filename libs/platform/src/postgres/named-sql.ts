/** A statement as `pg` takes it. A statement with a name is prepared once per connection. */
export interface PreparedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

export interface NamedSql<P> {
  /** What PostgreSQL receives: `$1`, `$2`, … instead of names, without comments. */
  readonly text: string;
  with(parameters: P): PreparedStatement;
}

/** A string literal, a comment, or `:name`, but not the cast `::name`. */
const TOKEN = /(?<literal>'[^']*')|--.*$|(?<!:):(?<parameter>[a-z]\w*)/gim;

/**
 * Compiles SQL with named parameters (`:seatIds`) to numbered ones, once, when its module is loaded. A parameter without a
 * value throws: PostgreSQL would otherwise take it for NULL.
 */
export function namedSql<P extends object>(name: string, sql: string): NamedSql<P> {
  const numbers = new Map<string, number>();
  const text = sql.replace(TOKEN, (...match) => {
    const { literal = '', parameter } = match.at(-1) as { literal?: string; parameter?: string };
    if (parameter === undefined) return literal;
    if (!numbers.has(parameter)) numbers.set(parameter, numbers.size + 1);
    return `$${numbers.get(parameter)}`;
  });
  const names = [...numbers.keys()];
  return {
    text,
    with: (parameters) => ({ name, text, values: names.map((parameter) => valueOf(name, parameters, parameter)) }),
  };
}

function valueOf(statement: string, parameters: object, name: string): unknown {
  const value = (parameters as Readonly<Record<string, unknown>>)[name];
  if (value === undefined) throw new Error(`statement ${statement}: the parameter ${name} has no value`);
  return value;
}
