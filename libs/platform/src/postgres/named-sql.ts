/** A statement with its values, in the form that the driver `pg` takes. It has a name, so it is prepared once per connection. */
export interface PreparedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** A statement with named parameters of the type `P`, without values. */
export interface NamedSql<P> {
  /** The SQL that PostgreSQL receives: with `$1`, `$2`, … instead of parameter names, and without comments. */
  readonly text: string;
  /** Returns the statement with the values of its parameters. */
  with(parameters: P): PreparedStatement;
}

/** A string literal, a comment, or `:name`, but not the cast `::name`. */
const TOKEN = /(?<literal>'[^']*')|--.*$|(?<!:):(?<parameter>[a-z]\w*)/gim;

/**
 * Compiles SQL with named parameters (`:seatIds`) to SQL with numbered parameters (`$1`), once, when the module of the statement
 * is loaded. `name` is the name of the prepared statement. `with` throws when a parameter has no value, because PostgreSQL would
 * take the missing value for NULL.
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
