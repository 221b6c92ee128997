import ts from 'typescript';
import type { SourceFile } from './sources.ts';

/** Paths of barrel files: files that only re-export other files, and every `index.ts`. */
export function barrelsIn(files: readonly Pick<SourceFile, 'path' | 'text'>[]): string[] {
  return files.filter(({ path, text }) => /\/index\.tsx?$/.test(path) || onlyReExports(path, text)).map(({ path }) => path);
}

function onlyReExports(path: string, text: string): boolean {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return statements.length > 0 && statements.every((statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier);
}
