import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '../..');

/** The text and the imports of one file. */
export interface SourceFile {
  /** Relative to the root of the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The import specifiers as they are written in the file. */
  readonly imports: readonly string[];
}

/** The import specifiers in a source text. TypeScript parses it, so that text in comments and strings does not count as an import. */
export function importsIn(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

const isTestCode = (file: string): boolean => /\.(test|contract)\.tsx?$|\/testing\/|^libs\/testing\//.test(file);

/** Every source file that runs in production: no tests, no fakes, no contract suites. */
export function productionSources(): SourceFile[] {
  return sources((file) => !isTestCode(file));
}

/** The tests, fakes and contract suites of the apps and libraries. */
export function testSources(): SourceFile[] {
  return sources(isTestCode);
}

function sources(isWanted: (file: string) => boolean): SourceFile[] {
  const files = globSync(['apps/*/src/**/*.{ts,tsx}', 'libs/*/src/**/*.ts'], { cwd: root }).map((file) =>
    file.replaceAll('\\', '/'),
  );
  return files
    .filter(isWanted)
    .sort()
    .map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      return { path: file, text, imports: importsIn(text) };
    });
}

/** The SQL of all migrations as one text. */
export function migrations(): string {
  const files = globSync('migrations/*.sql', { cwd: root }).sort();
  return files.map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n');
}

/** The path of the imported file in the project; for packages a name such as `package:zod` or `package:node:fs`. */
export function resolveImport(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return path.posix.normalize(path.posix.join(path.posix.dirname(from), specifier));
  const [, library, rest] = /^#([^/]+)\/(.+)$/.exec(specifier) ?? [];
  return library ? `libs/${library}/src/${rest}.ts` : `package:${specifier}`;
}
