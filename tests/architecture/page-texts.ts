import type { SourceFile } from './sources.ts';

/** The names on the way to each text: ["nav", "skip"] for texts.nav.skip. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  return Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]));
}

/**
 * The texts that no component of the page reads. A component reads `texts.nav.skip`, a whole group (`texts.hold.release`), or a
 * text by a computed name (`texts.saleStatus[status]`), which reads every text of the group. `const opsTexts = texts.ops` makes
 * `opsTexts` another name for the group and reads nothing.
 */
export function unusedPageTexts(texts: object, sources: readonly Pick<SourceFile, 'path' | 'text'>[]): string[] {
  const read = new Set<string>();
  for (const { text } of sources.filter(({ path }) => path.startsWith('apps/web/') && !path.includes('/text/'))) {
    const aliases = new Map([['texts', '']]);
    const code = text.replaceAll(/const (\w+) = texts((?:\.\w+)+);/g, (_, name: string, path: string) => {
      aliases.set(name, path);
      return '';
    });
    for (const [, name = '', path = ''] of code.matchAll(/\b(\w+|languages\[\w+\])((?:\.\w+)+)/g))
      if (aliases.has(name) || name.startsWith('languages[')) read.add(`${aliases.get(name) ?? ''}${path}`.slice(1));
  }
  const isRead = (path: readonly string[]): boolean => path.some((_, index) => read.has(path.slice(0, index + 1).join('.')));
  return pathsOf(texts)
    .filter((path) => !isRead(path))
    .map((path) => path.join('.'));
}
