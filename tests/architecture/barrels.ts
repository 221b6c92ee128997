import ts from 'typescript';
import type { SourceFile } from './sources.ts';

/** Files that only pass on what is in others, and files named as if they did. */
export function barrelsIn(files: readonly Pick<SourceFile, 'path' | 'text'>[]): string[] {
  return files.filter(({ path, text }) => /\/index\.tsx?$/.test(path) || onlyPassesOn(path, text)).map(({ path }) => path);
}

function onlyPassesOn(path: string, text: string): boolean {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return statements.length > 0 && statements.every((statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier);
}
