import { mean, median } from '../instruments/quantiles.ts';
import type { PgbenchResult } from '../yardsticks/pgbench.ts';
import type { RunResult } from './run.ts';

/** The results of one round: pgbench, then every scenario once, then pgbench again. */
export interface Round {
  readonly pgbench: readonly PgbenchResult[];
  readonly runs: readonly RunResult[];
  /** Scenarios that failed, with the reason. */
  readonly failures: readonly string[];
}

/** One required figure of the report, with its limits and its values. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly floor: number;
  readonly aim: number;
  /** True if less is better. */
  readonly isCost: boolean;
  /** One value for each round in which all needed scenarios were run. */
  readonly values: readonly number[];
  readonly median: number;
  readonly meetsFloor: boolean;
  readonly meetsAim: boolean;
}

type Measure = (round: Round) => number | undefined;

interface FigureDefinition {
  readonly what: string;
  readonly unit: string;
  readonly floor: number;
  readonly aim: number;
  readonly isCost?: boolean;
  readonly measure: Measure;
}

/** Transactions per second of pgbench in one round. Our rates are divided by it. */
export const yardstick = ({ pgbench }: Round): number => mean(pgbench.map(({ perSecond }) => perSecond));

const findRun = ({ runs }: Round, name: string): RunResult | undefined => runs.find(({ scenario }) => scenario === name);

const relativeToPgbench =
  (name: string): Measure =>
  (round) => {
    const found = findRun(round, name);
    return found && found.perSecond / yardstick(round);
  };

/** The cost of one reservation: its processor time, or its elapsed time if there is no /proc. */
function costOf({ cpu, perSecond }: RunResult): number {
  const micros = cpu.service + cpu.database;
  return Number.isNaN(micros) ? 1e6 / perSecond : micros;
}

const costRelativeTo64Callers =
  (name: string): Measure =>
  (round) => {
    const [found, base] = [findRun(round, name), findRun(round, 'in-process-64')];
    return found && base && costOf(found) / costOf(base);
  };

/**
 * The required figures. The aim 1.05 means that a cost must not rise, compared with the scenario `in-process-64`: 5 % is less than
 * the difference between two equal runs.
 */
const definitions: readonly FigureDefinition[] = [
  {
    what: 'reservations/s, 64 callers in process',
    unit: '× pgbench',
    floor: 2.5,
    aim: 4,
    measure: relativeToPgbench('in-process-64'),
  },
  { what: '512 callers in process', unit: '× pgbench', floor: 4.5, aim: 8, measure: relativeToPgbench('in-process-512') },
  {
    what: 'over HTTP, 256 connections, one process',
    unit: '× pgbench',
    floor: 1.5,
    aim: 3,
    measure: relativeToPgbench('http-256'),
  },
  { what: 'two processes, same match', unit: '× pgbench', floor: 3, aim: 6, measure: relativeToPgbench('two-processes') },
  {
    what: 'whole purchases over HTTP, 64 buyers',
    unit: '× pgbench',
    floor: 0.1,
    aim: 0.25,
    measure: relativeToPgbench('whole-purchases'),
  },
  {
    what: 'p99 of the first 2 s after the opening, 128 buyers, fresh process',
    unit: 'ms',
    ...{ floor: 400, aim: 250, isCost: true },
    measure: (round) => findRun(round, 'first-second')?.opening?.firstP99Ms,
  },
  {
    what: 'the same against the tenth second',
    unit: '×',
    ...{ floor: 3, aim: 1.5, isCost: true },
    measure: (round) => {
      const opening = findRun(round, 'first-second')?.opening;
      return opening && opening.firstP99Ms / opening.tenthP99Ms;
    },
  },
  {
    what: 'p99 at 64 callers',
    unit: "× pgbench's p99",
    ...{ floor: 0.5, aim: 0.3, isCost: true },
    measure: (round) => {
      const found = findRun(round, 'in-process-64');
      return found && found.p99Ms / mean(round.pgbench.map(({ p99Ms }) => p99Ms));
    },
  },
  {
    what: 'against the textbook transaction',
    unit: '×',
    ...{ floor: 30, aim: 60 },
    measure: (round) => {
      const [found, textbook] = [findRun(round, 'in-process-64'), findRun(round, 'textbook')];
      return found && textbook && found.perSecond / textbook.perSecond;
    },
  },
  {
    what: 'cost of doubling the seats (40k → 80k)',
    unit: '× CPU',
    ...{ floor: 1.2, aim: 1.05, isCost: true },
    measure: costRelativeTo64Callers('doubled-seats'),
  },
  {
    what: 'cost at 80 % sold',
    unit: '× CPU',
    ...{ floor: 1.2, aim: 1.05, isCost: true },
    measure: costRelativeTo64Callers('nearly-sold'),
  },
];

/** The figures for which at least one round has all needed scenarios. */
export function figuresOf(rounds: readonly Round[]): Figure[] {
  return definitions.flatMap(({ measure, isCost = false, ...description }): Figure[] => {
    const values = rounds.map(measure).filter((value) => value !== undefined);
    if (values.length === 0) return [];
    const medianValue = median(values);
    const meets = (bound: number): boolean => (isCost ? medianValue <= bound : medianValue >= bound);
    return [
      {
        ...description,
        isCost,
        values,
        median: medianValue,
        meetsFloor: meets(description.floor),
        meetsAim: meets(description.aim),
      },
    ];
  });
}
