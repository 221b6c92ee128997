// Which benchmarks can be compared, how their quick form is started, and how figures are read from the file each of them has
// written since 16a3242. That file is the only source: an old commit knows no newer option.
import { z } from 'zod';
import { median } from '../instruments/quantiles.ts';

export const benchmarkNames = ['purchase', 'queue', 'notifications', 'loader'] as const;
export type BenchmarkName = (typeof benchmarkNames)[number];

export interface Figure {
  /** With the unit. Two commits' figures are the same when their names are. */
  readonly name: string;
  readonly value: number;
  readonly isLessBetter: boolean;
}

export interface Benchmark {
  readonly arguments: readonly string[];
  /** The result file is named <date>-<benchmark>-<name given with --name>.<extension>. */
  readonly extension: 'json' | 'md';
  /** How long the quick form takes on two cores. */
  readonly seconds: number;
  /** Throws when the text is not what this benchmark writes. */
  read(text: string): Figure[];
}

/** Both commits are built once, before the first run. */
const BUILT = ['--quick', '--no-build'];

export const benchmarks: Readonly<Record<BenchmarkName, Benchmark>> = {
  purchase: { arguments: BUILT, extension: 'json', seconds: 75, read: readPurchase },
  queue: { arguments: BUILT, extension: 'json', seconds: 55, read: readFigures },
  // It runs from the sources and has no --no-build.
  notifications: { arguments: ['--quick'], extension: 'json', seconds: 20, read: readFigures },
  loader: { arguments: BUILT, extension: 'md', seconds: 40, read: readLoader },
};

const figure = z.object({
  what: z.string(),
  unit: z.string(),
  isCost: z.boolean().optional(),
  /** One a round; null where the machine could not tell. */
  values: z.array(z.number().nullable()),
});
const result = z.object({ figures: z.union([z.array(figure), z.record(z.string(), figure)]) });

/** A time or an amount of memory: some figures have never been marked as costs. */
const COST_UNITS = ['ms', 's', 'GB', 'µs'];

function readFigures(text: string): Figure[] {
  const { figures } = result.parse(JSON.parse(text));
  const found = Object.values(figures).map(({ what, unit, isCost = false, values }) =>
    figureOf({ what, unit, isCost }, values.filter(isNumber)),
  );
  return measured(found.flat());
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

/** What the others are compared with inside one run; no code of ours. */
const YARDSTICK_SCENARIO = 'textbook';

/** The figures, and the processor time of each scenario: the steadiest number on a machine that others use too. */
function readPurchase(text: string): Figure[] {
  const { cutShort, rounds } = purchaseRounds.parse(JSON.parse(text));
  // Scenarios missing in both commits would not be noticed.
  if (cutShort) throw new Error('its time limit ended it before all scenarios were run: the machine is too busy');
  const runs = rounds.flatMap((round) => round.runs).filter(({ scenario }) => scenario !== YARDSTICK_SCENARIO);
  const scenarios = [...new Set(runs.map(({ scenario }) => scenario))];
  const cpu = scenarios.flatMap((name) => {
    const times = runs
      .filter(({ scenario }) => scenario === name)
      .map(({ cpu: { service, database, redis } }) => [service, database, redis]);
    const complete = times.filter((parts): parts is number[] => parts.every(isNumber));
    const sums = complete.map((parts) => parts.reduce((sum, part) => sum + part, 0));
    return figureOf({ what: `CPU of one ${name === 'whole-purchases' ? 'purchase' : 'hold'}, ${name}`, unit: 'µs' }, sums);
  });
  return [...readFigures(text), ...cpu];
}

/** The loader writes only a table. Its share is rounded to two digits, so its events and its processor time are compared. */
function readLoader(text: string): Figure[] {
  const [header = [], , ...rows] = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  const column = (title: string): number => header.findIndex((cell) => cell.startsWith(title));
  const [loaders, events, cpu] = [column('Loaders'), column('Events/s'), column('CPU µs an event')];
  if (Math.min(loaders, events, cpu) < 0) throw new Error('the table of the loader has other columns than expected');
  const found = rows.flatMap((cells) => {
    const who = `${cells[loaders]} loader${cells[loaders] === '1' ? '' : 's'}`;
    const parts = (cells[cpu] ?? '').split('+').map(Number);
    const total = parts.reduce((sum, part) => sum + part, 0);
    return [
      ...figureOf({ what: who, unit: 'events/s' }, [Number(cells[events])]),
      ...figureOf({ what: `CPU of one event, ${who}`, unit: 'µs' }, [total].filter(isNumber)),
    ];
  });
  return measured(found);
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

/** None when nothing was measured. */
function figureOf({ what, unit, isCost = false }: Description, values: readonly number[]): Figure[] {
  if (values.length === 0) return [];
  const name = unit === '' ? what : `${what} (${unit})`;
  return [{ name, value: median(values), isLessBetter: isCost || COST_UNITS.includes(unit) }];
}

function measured(figures: Figure[]): Figure[] {
  if (figures.length === 0) throw new Error('the result holds no figures');
  if (figures.some(({ value }) => Number.isNaN(value))) throw new Error('the result holds a figure that is no number');
  return figures;
}

const isNumber = (value: number | null): value is number => value !== null && !Number.isNaN(value);
