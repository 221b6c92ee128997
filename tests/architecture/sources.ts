import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '../..');

export interface SourceFile {
  /** From the root of the project, with slashes. */
  readonly path: string;
  readonly text: string;
  /** What it imports, as it is written. */
  readonly imports: readonly string[];
}

/** TypeScript's own reading: comments and strings that only look like imports are none. */
export function importsIn(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

/** Everything that runs in production: tests, fakes and suites are another world. */
export function productionSources(): SourceFile[] {
  const files = globSync(['apps/*/src/**/*.{ts,tsx}', 'libs/*/src/**/*.ts'], { cwd: root }).map((file) =>
    file.replaceAll('\\', '/'),
  );
  return files
    .filter((file) => !/\.(test|contract)\.tsx?$|\/testing\/|^libs\/testing\//.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      return { path: file, text, imports: importsIn(text) };
    });
}

export function migrations(): string {
  const files = globSync('migrations/*.sql', { cwd: root }).sort();
  return files.map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n');
}

/** Where an import leads: a path of the project, or `package:zod`, `package:node:fs`. */
export function target(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return path.posix.normalize(path.posix.join(path.posix.dirname(from), specifier));
  const [, library, rest] = /^#([^/]+)\/(.+)$/.exec(specifier) ?? [];
  return library ? `libs/${library}/src/${rest}.ts` : `package:${specifier}`;
}
