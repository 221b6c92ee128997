import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type BenchmarkName, benchmarks, type Figure } from './benchmarks.ts';
import { type Checkouts, type Project, type Side, sides } from './checkouts.ts';
import type { Pair } from './ratios.ts';
import { runToEnd } from './run-to-end.ts';

/** Part of the file name of each result. */
const RESULT_NAME = 'compare';

export interface Run {
  /** Number of the pair, starting at 1. */
  readonly pair: number;
  readonly benchmark: BenchmarkName;
  readonly side: Side;
}

/** The runs in the order old new, new old, …, so that a steady drift of the machine affects both commits equally. */
export function schedule(only: readonly BenchmarkName[], pairs: number): Run[] {
  return Array.from({ length: pairs }, (_, index) => index + 1).flatMap((pair) =>
    only.flatMap((benchmark) => (pair % 2 === 1 ? sides : sides.toReversed()).map((side) => ({ pair, benchmark, side }))),
  );
}

export function expectedMinutes(runs: readonly Run[], seconds: ReadonlyMap<BenchmarkName, number> = new Map()): number {
  const totalSeconds = runs.reduce((sum, { benchmark }) => sum + (seconds.get(benchmark) ?? benchmarks[benchmark].seconds), 0);
  return Math.ceil(totalSeconds / 60);
}

export interface PairResults {
  /** The pairs in which both runs succeeded. */
  readonly pairs: Readonly<Partial<Record<BenchmarkName, readonly Pair[]>>>;
  readonly failures: readonly string[];
}

/** Runs all benchmarks. If a run fails, its pair is not compared; the other runs continue. */
export async function runPairs(project: Project, checkouts: Checkouts, runs: readonly Run[]): Promise<PairResults> {
  const seconds = new Map<BenchmarkName, number>();
  const failures: string[] = [];
  const figuresOfRun = new Map<Run, readonly Figure[]>();
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
  runs: readonly Run[],
  figuresOfRun: ReadonlyMap<Run, readonly Figure[]>,
): Partial<Record<BenchmarkName, Pair[]>> {
  const pairs: Partial<Record<BenchmarkName, Pair[]>> = {};
  for (const run of runs.filter(({ side }) => side === 'old')) {
    const newRun = runs.find(({ pair, benchmark, side }) => pair === run.pair && benchmark === run.benchmark && side === 'new');
    const [old, current] = [figuresOfRun.get(run), newRun && figuresOfRun.get(newRun)];
    if (old && current) (pairs[run.benchmark] ??= []).push({ old, new: current });
  }
  return pairs;
}

async function runOnce({ signal }: Project, folder: string, name: BenchmarkName): Promise<Figure[]> {
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
