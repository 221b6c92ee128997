import path from 'node:path';
import { resolveImport, type SourceFile } from './sources.ts';

/** A fake: a class in `testing/memory-….ts` that stands for the adapter of a port. */
interface Fake {
  readonly file: SourceFile;
  readonly name: string;
  readonly port: string;
}

function fakesIn(files: readonly SourceFile[]): Fake[] {
  return files
    .filter((file) => /\/testing\/memory-[\w-]+(?<!\.test)\.ts$/.test(file.path))
    .flatMap((file) =>
      [...file.text.matchAll(/^export class (\w+) (?:extends|implements) (\w+)/gm)].map(([, name = '', port = '']) => ({
        ...{ file, name, port },
      })),
    );
}

const kebabCase = (name: string): string => name.replaceAll(/(?<!^)[A-Z]/g, '-$&').toLowerCase();

/**
 * The fakes that could say something else than the real adapter: their port has no contract suite, or the suite does not run against
 * both. The suite of a port is named after it (`SeatHolds`: seat-holds.contract.ts) or listed in `suites`. `withoutRules` lists ports
 * that promise nothing a suite could test, each with the reason.
 */
export function fakesWithoutContract(
  files: readonly SourceFile[],
  {
    suites = {},
    withoutRules = {},
  }: { suites?: Readonly<Record<string, string>>; withoutRules?: Readonly<Record<string, string>> },
): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const importsOf = (file: SourceFile): string[] => file.imports.map(({ specifier }) => resolveImport(file.path, specifier));
  /** The imports of a test, and those of the test code that it imports. */
  const reached = (test: SourceFile): Set<string> =>
    new Set(importsOf(test).flatMap((imported) => [imported, ...importsOf(byPath.get(imported) ?? { ...test, imports: [] })]));
  return fakesIn(files).flatMap(({ file, name, port }) => {
    if (withoutRules[port]) return [];
    const suite = suites[port] ?? `${kebabCase(port)}.contract.ts`;
    const contract = files.find((candidate) => path.posix.basename(candidate.path) === suite);
    if (!contract) return [`${name} has no ${suite}`];
    const runs = files.filter((test) => test.path.endsWith('.test.ts') && importsOf(test).includes(contract.path));
    const isOfAdapter = ({ path: test }: SourceFile): boolean => /\.db\.test\.ts$|\/(outbound|adapters)\//.test(test);
    return [
      ...(runs.some((test) => reached(test).has(file.path)) ? [] : [`${suite} does not run against ${name}`]),
      ...(runs.some(isOfAdapter) ? [] : [`${suite} does not run against the adapter of ${port}`]),
    ];
  });
}
