import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type BenchmarkName, benchmarks, type Figure } from './benchmarks.ts';
import { type BuiltCheckouts, type ComparisonContext, type Side, sides } from './checkouts.ts';
import type { FigurePair } from './ratios.ts';
import { runToEnd } from './run-to-end.ts';

/** The value of --name in every run. It becomes a part of the name of the result file. */
const RESULT_NAME = 'compare';

/** One planned run of one benchmark on one of the two commits. */
export interface ScheduledRun {
  /** Number of the pair to which the run belongs, starting at 1. */
  readonly pair: number;
  readonly benchmark: BenchmarkName;
  readonly side: Side;
}

/** The runs in the order old new, new old, …, so that a steady drift of the machine affects both commits equally. */
export function schedule(only: readonly BenchmarkName[], pairs: number): ScheduledRun[] {
  return Array.from({ length: pairs }, (_, index) => index + 1).flatMap((pair) =>
    only.flatMap((benchmark) => (pair % 2 === 1 ? sides : sides.toReversed()).map((side) => ({ pair, benchmark, side }))),
  );
}

/** The expected duration of all runs. `seconds`: the durations measured so far, by benchmark. */
export function expectedMinutes(runs: readonly ScheduledRun[], seconds: ReadonlyMap<BenchmarkName, number> = new Map()): number {
  const totalSeconds = runs.reduce((sum, { benchmark }) => sum + (seconds.get(benchmark) ?? benchmarks[benchmark].seconds), 0);
  return Math.ceil(totalSeconds / 60);
}

/** The figures of all finished pairs by benchmark, and the runs that failed. */
export interface PairResults {
  /** The pairs in which both runs succeeded. */
  readonly pairs: Readonly<Partial<Record<BenchmarkName, readonly FigurePair[]>>>;
  readonly failures: readonly string[];
}

/** Runs all scheduled benchmarks. If a run fails, its pair is not compared, and the next runs continue. */
export async function runPairs(
  project: ComparisonContext,
  checkouts: BuiltCheckouts,
  runs: readonly ScheduledRun[],
): Promise<PairResults> {
  const seconds = new Map<BenchmarkName, number>();
  const failures: string[] = [];
  const figuresOfRun = new Map<ScheduledRun, readonly Figure[]>();
  for (const [index, run] of runs.entries()) {
    const { pair, benchmark, side } = run;
    const title = `pair ${pair} of ${runs.at(-1)?.pair}: ${benchmark}, ${side}`;
    project.say(`${title} (about ${expectedMinutes(runs.slice(index), seconds)} min left)`);
    const startedAt = Date.now();
    try {
      figuresOfRun.set(run, await runOnce(project, checkouts[side].folder, benchmark));
      seconds.set(benchmark, (Date.now() - startedAt) / 1000);
    } catch (error) {
      project.signal.throwIfAborted();
      failures.push(`${title} failed: ${error instanceof Error ? error.message : String(error)}`);
      project.say(failures.at(-1)!);
    }
  }
  return { pairs: pairsOf(runs, figuresOfRun), failures };
}

function pairsOf(
  runs: readonly ScheduledRun[],
  figuresOfRun: ReadonlyMap<ScheduledRun, readonly Figure[]>,
): Partial<Record<BenchmarkName, FigurePair[]>> {
  const pairs: Partial<Record<BenchmarkName, FigurePair[]>> = {};
  for (const run of runs.filter(({ side }) => side === 'old')) {
    const newRun = runs.find(({ pair, benchmark, side }) => pair === run.pair && benchmark === run.benchmark && side === 'new');
    const [old, current] = [figuresOfRun.get(run), newRun && figuresOfRun.get(newRun)];
    if (old && current) (pairs[run.benchmark] ??= []).push({ old, new: current });
  }
  return pairs;
}

async function runOnce({ signal }: ComparisonContext, folder: string, name: BenchmarkName): Promise<Figure[]> {
  const { arguments: options, extension, read } = benchmarks[name];
  const results = path.join(folder, 'bench/results');
  const isResult = (file: string): boolean => file.endsWith(`-${name}-${RESULT_NAME}.${extension}`);
  const files = (): string[] => readdirSync(results).filter(isResult);
  // The file name contains the date, which may change between two runs. So delete the old results first.
  for (const file of files()) rmSync(path.join(results, file));
  await runToEnd('npm', ['run', `bench:${name}`, '--', ...options, '--name', RESULT_NAME], { cwd: folder, signal });
  const [file] = files();
  if (file === undefined) throw new Error(`bench:${name} wrote no result`);
  return read(readFileSync(path.join(results, file), 'utf8'));
}
