import ts from 'typescript';
import type { SourceFile } from './sources.ts';

/** True if the code calls or passes on `setInterval`. The name in a comment or a string does not count. */
function usesSetInterval({ path, text }: Pick<SourceFile, 'path' | 'text'>): boolean {
  const visit = (node: ts.Node): boolean =>
    (ts.isIdentifier(node) && node.text === 'setInterval') || (ts.forEachChild(node, visit) ?? false);
  return text.includes('setInterval') && visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
}

/**
 * Files that use `setInterval` and are not in `allowed`, and files in `allowed` that do not use it. `allowed` has the reason for
 * each file.
 */
export function intervalFaults(
  files: readonly Pick<SourceFile, 'path' | 'text'>[],
  allowed: Readonly<Record<string, string>>,
): string[] {
  const found = files.filter(usesSetInterval).map(({ path }) => path);
  return [
    ...found.filter((path) => !(path in allowed)).map((path) => `${path} uses setInterval instead of PeriodicTasks`),
    ...Object.keys(allowed)
      .filter((path) => !found.includes(path))
      .map((path) => `${path} is allowed to use setInterval, but does not use it`),
  ];
}
