import type { SourceFile } from './sources.ts';

/** Finds each call of `namedSql<type>('name', …)` and captures the name. The type may span several lines. */
const NAMED_SQL = /\bnamedSql(?:<.*?>)?\(\s*'([^']+)'/gs;

/**
 * Names that two statements have. PostgreSQL prepares a statement once per connection under its name, so the second one fails as
 * soon as both use the same connection.
 */
export function sharedStatementNames(files: readonly Pick<SourceFile, 'text'>[]): string[] {
  const names = statementNamesIn(files);
  return names.filter((name, index) => names.indexOf(name) !== index);
}

/** The names of all prepared statements that these files define by `namedSql`. */
export function statementNamesIn(files: readonly Pick<SourceFile, 'text'>[]): string[] {
  return files.flatMap(({ text }) => [...text.matchAll(NAMED_SQL)].map(([, name = '']) => name));
}
