import { parseArgs } from 'node:util';
import { benchmarkNames, defaultBenchmarks, type BenchmarkName } from './benchmarks.ts';

/** The help text of `npm run bench:compare`. */
export const USAGE = `npm run bench:compare -- OLD [--new REV] [--only ${benchmarkNames.join(',')}] [--pairs 6]

Builds two commits side by side, runs the quick form of the benchmarks alternately (old new, new old, …), and prints the
median ratio of every figure with its spread. A ratio above 1 always means better, also for figures where less is better.

  OLD         any git revision: a commit, a branch, a tag. The oldest one supported is 16a3242.
  --new REV   the revision to compare with OLD. Default: the working tree as it is now, with all changes.
  --only      the benchmarks to run, of ${benchmarkNames.join(', ')}. Default: all except whole.
  --pairs N   the number of runs of each commit, 1 to 50. Default: 6.
  --help      print this text.

The table goes to stdout, progress to stderr. bench/results is not written. Run it on an otherwise idle machine.
Compare a commit with itself to see how noisy the machine is.

Exit code: 0 every median is at least 0.95; 1 a median is below 0.95, a run failed or a figure of OLD could not be compared;
2 wrong usage.`;

const MAX_PAIRS = 50;

/** What to compare: two revisions, the benchmarks and the number of pairs. */
export interface CompareOptions {
  /** The git revision that is the base of the comparison. */
  readonly old: string;
  /** The git revision that is compared with `old`. The working tree when undefined. */
  readonly new: string | undefined;
  readonly only: readonly BenchmarkName[];
  readonly pairs: number;
}

/** Thrown for invalid command line arguments. The program then exits with code 2. */
export class WrongUsage extends Error {}

/** Parses the command line. Throws WrongUsage for invalid arguments. */
export function readArguments(args: readonly string[]): CompareOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  const [old, ...extra] = positionals;
  if (!old) throw new WrongUsage('OLD is missing.');
  if (extra.length > 0) throw new WrongUsage(`One revision is expected, not also ${extra.join(' ')}.`);
  const only = (values.only ?? []).flatMap((names) => names.split(','));
  const unknown = only.filter((name) => !isBenchmarkName(name));
  if (unknown.length > 0) throw new WrongUsage(`There is no benchmark "${unknown.join(', ')}".`);
  const pairs = Number(values.pairs ?? 6);
  if (!Number.isInteger(pairs) || pairs < 1 || pairs > MAX_PAIRS)
    throw new WrongUsage(`--pairs takes a whole number from 1 to ${MAX_PAIRS}.`);
  const chosen = only.length === 0 ? defaultBenchmarks : benchmarkNames.filter((name) => only.includes(name));
  return { old, new: values.new, only: chosen, pairs };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { new: text, only: { ...text, multiple: true }, pairs: text, help: { type: 'boolean' } },
    });
  } catch (error) {
    throw new WrongUsage(error instanceof Error ? error.message : String(error));
  }
}

function isBenchmarkName(name: string): name is BenchmarkName {
  return (benchmarkNames as readonly string[]).includes(name);
}
