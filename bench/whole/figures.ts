import { mean, median } from '../instruments/quantiles.ts';
import type { PgbenchResult } from '../yardsticks/pgbench.ts';
import { costOfMail } from './parts.ts';
import type { Drain, WholeRun } from './run.ts';
import type { WorkerMode } from './system.ts';

/**
 * From so many buyers on the processors are busy all the time. Fewer spend most of their time waiting to read the order again, 50 ms after the
 * first read: 64 of them left a quarter of both processors idle.
 */
const MANY_BUYERS = 128;

/** The results of one round: pgbench, then every scenario once, then pgbench again. */
export interface WholeRound {
  readonly pgbench: readonly PgbenchResult[];
  readonly runs: readonly WholeRun[];
  /** Scenarios that failed, with the reason. */
  readonly failures: readonly string[];
}

/** One figure of the report with its values, one for each round that has its runs. */
export interface WholeFigure {
  readonly what: string;
  readonly unit: string;
  /** The lowest accepted value; the highest one if `isCost`. A figure without a floor is only reported. */
  readonly floor: number | undefined;
  readonly isCost: boolean;
  readonly values: readonly number[];
  readonly median: number;
  readonly meetsFloor: boolean;
}

interface FigureDefinition {
  readonly what: string;
  readonly unit: string;
  readonly floor?: number;
  readonly isCost?: boolean;
  readonly measure: (round: WholeRound) => number | undefined;
}

/** Transactions per second of pgbench in one round. */
export const yardstick = ({ pgbench }: WholeRound): number => mean(pgbench.map(({ perSecond }) => perSecond));

const findRun = ({ runs }: WholeRound, mode: WorkerMode, buyers: number): WholeRun | undefined =>
  runs.find((run) => run.mode === mode && run.buyers === buyers);

function definitionsFor(buyers: number): FigureDefinition[] {
  const running = (round: WholeRound): WholeRun | undefined => findRun(round, 'running', buyers);
  const comparedWithAbsent = (mode: WorkerMode) => (round: WholeRound) => {
    const [run, absent] = [findRun(round, mode, buyers), findRun(round, 'absent', buyers)];
    return run && absent && run.perSecond / absent.perSecond;
  };
  const atBuyers = `${buyers} buyers`;
  return [
    {
      what: `whole purchases/s with everything running, ${atBuyers}`,
      unit: '× pgbench',
      ...(buyers >= MANY_BUYERS ? { floor: 0.1 } : {}),
      measure: (round) => {
        const run = running(round);
        return run && run.perSecond / yardstick(round);
      },
    },
    {
      what: `whole purchases/s with the worker running ÷ absent, ${atBuyers}`,
      ...{ unit: '', floor: 0.9 },
      measure: comparedWithAbsent('running'),
    },
    { what: `whole purchases/s with the worker paused ÷ absent, ${atBuyers}`, unit: '', measure: comparedWithAbsent('paused') },
    {
      what: `p99 of a whole purchase with everything running, ${atBuyers}`,
      ...{ unit: 'ms', ...(buyers === 64 ? { floor: 250 } : {}), isCost: true },
      measure: (round) => running(round)?.p99Ms,
    },
    {
      what: `mails sent during the sale, ${atBuyers}`,
      ...{ unit: 'mails/s', floor: 95 },
      measure: (round) => running(round)?.mailsPerSecond,
    },
    {
      what: `whole purchases/s with mails by SMTP ÷ worker absent, ${atBuyers}`,
      ...{ unit: '', floor: 0.9 },
      measure: comparedWithAbsent('smtp'),
    },
    {
      what: `mails sent by SMTP during the sale, ${atBuyers}`,
      ...{ unit: 'mails/s', floor: 95 },
      measure: (round) => findRun(round, 'smtp', buyers)?.mailsPerSecond,
    },
  ];
}

/** The figures of the drains after the runs of one provider: the mailbox, or an SMTP server. */
function drainDefinitions(provider: 'mailbox' | 'SMTP'): FigureDefinition[] {
  const medianOfDrains = ({ runs }: WholeRound, value: (drain: Drain) => number): number | undefined => {
    const drains = runs.flatMap(({ mode, drain }) => ((mode === 'smtp') === (provider === 'SMTP') ? (drain ?? []) : []));
    return drains.length > 0 ? median(drains.map(value)) : undefined;
  };
  return [
    {
      what: `backlog drained without a sale, limit 1,000/s, ${provider}`,
      ...{ unit: 'mails/s', floor: 300 },
      measure: (round) => medianOfDrains(round, ({ perSecond }) => perSecond),
    },
    {
      what: `CPU of one mail: worker, PostgreSQL and Redis, ${provider}`,
      ...{ unit: 'µs', isCost: true },
      measure: (round) => medianOfDrains(round, ({ perMail }) => costOfMail(perMail)),
    },
  ];
}

/** The figures of all numbers of buyers that were measured. */
export function figuresOf(rounds: readonly WholeRound[]): WholeFigure[] {
  const numbers = [...new Set(rounds.flatMap(({ runs }) => runs.map(({ buyers }) => buyers)))].toSorted((a, b) => a - b);
  const definitions = [...numbers.flatMap(definitionsFor), ...drainDefinitions('mailbox'), ...drainDefinitions('SMTP')];
  return definitions.flatMap(({ what, unit, floor, isCost = false, measure }): WholeFigure[] => {
    const values = rounds.map(measure).filter((value) => value !== undefined);
    if (values.length === 0) return [];
    const middle = median(values);
    const meetsFloor = floor === undefined || (isCost ? middle <= floor : middle >= floor);
    return [{ what, unit, floor, isCost, values, median: middle, meetsFloor }];
  });
}
