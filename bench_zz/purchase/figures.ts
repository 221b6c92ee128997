import { mean, median } from '../instruments/quantiles.ts';
import type { PgbenchResult } from '../yardsticks/pgbench.ts';
import type { RunResult } from './run.ts';

/** What was measured side by side: pgbench at both ends, and every scenario once in between. */
export interface Round {
  readonly pgbench: readonly PgbenchResult[];
  readonly runs: readonly RunResult[];
  /** Scenarios that did not come to an end, and why. */
  readonly failures: readonly string[];
}

export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly floor: number;
  readonly aim: number;
  /** Whether more is worse. */
  readonly isCost: boolean;
  /** One a round, for the rounds in which all it needs was run. */
  readonly values: readonly number[];
  readonly median: number;
  readonly meetsFloor: boolean;
  readonly meetsAim: boolean;
}

type Measure = (round: Round) => number | undefined;

interface Wanted {
  readonly what: string;
  readonly unit: string;
  readonly floor: number;
  readonly aim: number;
  readonly isCost?: boolean;
  readonly measure: Measure;
}

export const yardstick = ({ pgbench }: Round): number => mean(pgbench.map(({ perSecond }) => perSecond));

const run = ({ runs }: Round, name: string): RunResult | undefined => runs.find(({ scenario }) => scenario === name);

const toPgbench =
  (name: string): Measure =>
  (round) => {
    const found = run(round, name);
    return found && found.perSecond / yardstick(round);
  };

/** Processor time of one reservation, or where there is no /proc the time it took. */
function costOf({ cpu, perSecond }: RunResult): number {
  const micros = cpu.service + cpu.database;
  return Number.isNaN(micros) ? 1e6 / perSecond : micros;
}

const costTo64Callers =
  (name: string): Measure =>
  (round) => {
    const [found, base] = [run(round, name), run(round, 'in-process-64')];
    return found && base && costOf(found) / costOf(base);
  };

/** The table. "Flat" is read as five hundredths, which is less than two runs of the same differ by. */
const wanted: readonly Wanted[] = [
  { what: 'reservations/s, 64 callers in process', unit: '× pgbench', floor: 2.5, aim: 4, measure: toPgbench('in-process-64') },
  { what: '512 callers in process', unit: '× pgbench', floor: 4.5, aim: 8, measure: toPgbench('in-process-512') },
  { what: 'over HTTP, 256 connections, one process', unit: '× pgbench', floor: 1.5, aim: 3, measure: toPgbench('http-256') },
  { what: 'two processes, same match', unit: '× pgbench', floor: 3, aim: 6, measure: toPgbench('two-processes') },
  {
    what: 'whole purchases over HTTP, 64 buyers',
    unit: '× pgbench',
    floor: 0.1,
    aim: 0.25,
    measure: toPgbench('whole-purchases'),
  },
  {
    what: 'p99 at 64 callers',
    unit: "× pgbench's p99",
    ...{ floor: 0.5, aim: 0.3, isCost: true },
    measure: (round) => {
      const found = run(round, 'in-process-64');
      return found && found.p99Ms / mean(round.pgbench.map(({ p99Ms }) => p99Ms));
    },
  },
  {
    what: 'against the textbook transaction',
    unit: '×',
    ...{ floor: 30, aim: 60 },
    measure: (round) => {
      const [found, textbook] = [run(round, 'in-process-64'), run(round, 'textbook')];
      return found && textbook && found.perSecond / textbook.perSecond;
    },
  },
  {
    what: 'cost of doubling the seats (40k → 80k)',
    unit: '× CPU',
    ...{ floor: 1.2, aim: 1.05, isCost: true },
    measure: costTo64Callers('doubled-seats'),
  },
  {
    what: 'cost at 80 % sold',
    unit: '× CPU',
    ...{ floor: 1.2, aim: 1.05, isCost: true },
    measure: costTo64Callers('nearly-sold'),
  },
];

/** Those for which at least one round has what they need. */
export function figuresOf(rounds: readonly Round[]): Figure[] {
  return wanted.flatMap(({ measure, isCost = false, ...words }): Figure[] => {
    const values = rounds.map(measure).filter((value) => value !== undefined);
    if (values.length === 0) return [];
    const middle = median(values);
    const meets = (bound: number): boolean => (isCost ? middle <= bound : middle >= bound);
    return [{ ...words, isCost, values, median: middle, meetsFloor: meets(words.floor), meetsAim: meets(words.aim) }];
  });
}
