// How to start the quick form of each benchmark, and how to read its figures from the result file, which has had the same form since
// commit 16a3242. The figures come only from this file: an option that prints them differently would be unknown to older commits.
import { z } from 'zod';
import { median } from '../instruments/quantiles.ts';

/** The benchmarks whose results of two commits can be compared. */
export const benchmarkNames = ['purchase', 'queue', 'notifications', 'loader', 'whole'] as const;
/** The name of a benchmark: the second part of its npm script, as in `bench:queue`. */
export type BenchmarkName = (typeof benchmarkNames)[number];

/** One measured value of a benchmark, such as reservations per second. */
export interface Figure {
  /** The name with its unit. Figures of two commits are compared if their names are equal. */
  readonly name: string;
  readonly value: number;
  readonly isLessBetter: boolean;
}

/** How the comparison starts a benchmark and reads its result file. */
export interface Benchmark {
  readonly arguments: readonly string[];
  /** The result file is named <date>-<benchmark>-<name given with --name>.<extension>. */
  readonly extension: 'json' | 'md';
  /** Duration of the quick form on two cores. */
  readonly seconds: number;
  /** Reads the figures of a result file. Throws if the file does not have the expected form. */
  read(text: string): Figure[];
}

/** The benchmarks that are compared unless others are named. `whole` is not one of them, because older commits do not have it. */
export const defaultBenchmarks: readonly BenchmarkName[] = benchmarkNames.filter((name) => name !== 'whole');

/** The arguments of a quick run without a build: the comparison builds both commits once, before the first run. */
const QUICK_WITHOUT_BUILD = ['--quick', '--no-build'];

/** The benchmarks that the comparison can run. */
export const benchmarks: Readonly<Record<BenchmarkName, Benchmark>> = {
  purchase: { arguments: QUICK_WITHOUT_BUILD, extension: 'json', seconds: 105, read: readPurchase },
  queue: { arguments: QUICK_WITHOUT_BUILD, extension: 'json', seconds: 55, read: readFigures },
  // This benchmark runs from the sources and has no option --no-build.
  notifications: { arguments: ['--quick'], extension: 'json', seconds: 20, read: readFigures },
  loader: { arguments: QUICK_WITHOUT_BUILD, extension: 'md', seconds: 40, read: readLoader },
  whole: { arguments: QUICK_WITHOUT_BUILD, extension: 'json', seconds: 90, read: readFigures },
};

const figure = z.object({
  what: z.string(),
  unit: z.string(),
  isCost: z.boolean().optional(),
  /** One value for each round; null if the machine could not measure it. */
  values: z.array(z.number().nullable()),
});
const result = z.object({ figures: z.union([z.array(figure), z.record(z.string(), figure)]) });

/** Units of time and memory, where less is better. Needed because some figures are not marked as costs. */
const COST_UNITS = ['ms', 's', 'GB', 'µs'];

function readFigures(text: string): Figure[] {
  const { figures } = result.parse(JSON.parse(text));
  const figureLists = Object.values(figures).map(({ what, unit, isCost = false, values }) =>
    figureOf({ what, unit, isCost }, values.filter(isNumber)),
  );
  return requireFigures(figureLists.flat());
}

const microseconds = z.number().nullable();
const purchaseRounds = z.object({
  cutShort: z.boolean(),
  rounds: z.array(
    z.object({
      runs: z.array(
        z.object({
          scenario: z.string(),
          cpu: z.object({ service: microseconds, database: microseconds, redis: microseconds }),
        }),
      ),
    }),
  ),
});

/** The scenario that other scenarios are compared with. It does not run our code, so its processor time is not compared. */
const YARDSTICK_SCENARIO = 'textbook';

/** Reads the figures of the purchase benchmark and the processor time of each scenario, which varies least on a shared machine. */
function readPurchase(text: string): Figure[] {
  const { cutShort, rounds } = purchaseRounds.parse(JSON.parse(text));
  // Refuse an incomplete result: if both commits lack the same scenario, the comparison cannot notice it.
  if (cutShort) throw new Error('the time limit was reached before all scenarios were run: the machine is too busy');
  const runs = rounds.flatMap((round) => round.runs).filter(({ scenario }) => scenario !== YARDSTICK_SCENARIO);
  const scenarios = [...new Set(runs.map(({ scenario }) => scenario))];
  const cpu = scenarios.flatMap((name) => {
    const cpuTimes = runs
      .filter(({ scenario }) => scenario === name)
      .map(({ cpu: { service, database, redis } }) => [service, database, redis]);
    const complete = cpuTimes.filter((parts): parts is number[] => parts.every(isNumber));
    const sums = complete.map((parts) => parts.reduce((sum, part) => sum + part, 0));
    return figureOf({ what: `CPU of one ${name === 'whole-purchases' ? 'purchase' : 'hold'}, ${name}`, unit: 'µs' }, sums);
  });
  return [...readFigures(text), ...cpu];
}

/** The loader benchmark writes only a table. Its column Share is rounded to two digits, so we compare events and processor time. */
function readLoader(text: string): Figure[] {
  const [header = [], , ...rows] = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  const column = (title: string): number => header.findIndex((cell) => cell.startsWith(title));
  const [loaders, events, cpu] = [column('Loaders'), column('Events/s'), column('CPU µs an event')];
  if (Math.min(loaders, events, cpu) < 0) throw new Error('the table of the loader has other columns than expected');
  const rowFigures = rows.flatMap((cells) => {
    const loadersText = `${cells[loaders]} loader${cells[loaders] === '1' ? '' : 's'}`;
    const parts = (cells[cpu] ?? '').split('+').map(Number);
    const total = parts.reduce((sum, part) => sum + part, 0);
    return [
      ...figureOf({ what: loadersText, unit: 'events/s' }, [Number(cells[events])]),
      ...figureOf({ what: `CPU of one event, ${loadersText}`, unit: 'µs' }, [total].filter(isNumber)),
    ];
  });
  return requireFigures(rowFigures);
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

interface Description {
  readonly what: string;
  readonly unit: string;
  readonly isCost?: boolean;
}

/** The median of the values as a figure, or an empty list if there are no values. */
function figureOf({ what, unit, isCost = false }: Description, values: readonly number[]): Figure[] {
  if (values.length === 0) return [];
  const name = unit === '' ? what : `${what} (${unit})`;
  return [{ name, value: median(values), isLessBetter: isCost || COST_UNITS.includes(unit) }];
}

function requireFigures(figures: Figure[]): Figure[] {
  if (figures.length === 0) throw new Error('the result holds no figures');
  if (figures.some(({ value }) => Number.isNaN(value))) throw new Error('the result holds a figure that is no number');
  return figures;
}

const isNumber = (value: number | null): value is number => value !== null && !Number.isNaN(value);
