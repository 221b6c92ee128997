import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '../..');

/** One import of a file. */
export interface Import {
  /** As it is written in the file, such as `../ports.ts` or `#platform/ids`. */
  readonly specifier: string;
  /** The line of the specifier, from 1 on. */
  readonly line: number;
}

/** The text and the imports of one file. */
export interface SourceFile {
  /** Relative to the root of the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** The imports in a source text. TypeScript parses it, so that text in comments and strings does not count as an import. */
export function importsIn(text: string): Import[] {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return importedFiles.map(({ fileName, pos }) => ({ specifier: fileName, line: text.slice(0, pos).split('\n').length }));
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
  if (library) return `libs/${library}/src/${rest}.ts`;
  return isBuiltin(specifier) ? `package:node:${specifier.replace(/^node:/, '')}` : `package:${specifier}`;
}
