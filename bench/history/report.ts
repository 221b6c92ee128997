import type { Machine } from '../instruments/machine.ts';
import { markdownTable } from '../instruments/markdown-table.ts';
import { writeFiles } from '../instruments/results.ts';
import { median } from '../instruments/quantiles.ts';
import type { ReadLatency } from './latencies.ts';
import type { HistoryRound } from './run.ts';

/** With the history, purchases a second must be at least this share of those without it, and no read may take longer than this. */
const FLOORS = { share: 0.95, readMs: 50 };

/** Everything that one run of the benchmark measured, as it is written to the JSON file. */
export interface HistoryResult {
  readonly at: Date;
  readonly machine: Machine;
  readonly orders: number;
  readonly historyGib: number;
  readonly buyers: number;
  readonly seconds: number;
  readonly note: string | undefined;
  readonly rounds: readonly HistoryRound[];
  readonly reads: readonly ReadLatency[];
  /** What `verify` found wrong in the two databases after the run. */
  readonly faults: readonly string[];
}

/** The figures of a result, in the form that all benchmarks write. */
export function figuresOf({ rounds, reads }: Pick<HistoryResult, 'rounds' | 'reads'>) {
  const shares = rounds.map((round) => round.with.perSecond / round.without.perSecond);
  const slowest = Math.max(...reads.map(({ maxMs }) => maxMs));
  return [
    ...(shares.length === 0
      ? []
      : [
          {
            what: 'whole purchases/s with the history ÷ without',
            ...{ unit: '', floor: FLOORS.share, isCost: false, values: shares, median: median(shares) },
            meetsFloor: median(shares) >= FLOORS.share,
          },
        ]),
    {
      what: 'the slowest read with the history',
      ...{
        unit: 'ms',
        floor: FLOORS.readMs,
        isCost: true,
        values: [slowest],
        median: slowest,
        meetsFloor: slowest <= FLOORS.readMs,
      },
    },
  ];
}

/** Writes the result to bench/results. Returns the path of both files for a message to the user. */
export function writeResults(result: HistoryResult, name: string | undefined): string {
  const data = { ...result, figures: figuresOf(result) };
  return writeFiles({ at: result.at, benchmark: 'history', name, report: renderReport(result), data });
}

/** The Markdown report of a benchmark result. */
export function renderReport(result: HistoryResult): string {
  const { at, machine, orders, historyGib, buyers, seconds, note, rounds, reads, faults } = result;
  const head = [
    `# Benchmark with a long history, ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `Commit ${machine.commit}. ${machine.cores} × ${machine.processor}, ${machine.memoryGib} GiB, ${machine.platform}, Node ${machine.node}.`,
    `${orders.toLocaleString('en')} orders of past matches, ${historyGib.toFixed(1)} GiB. ${buyers} buyers, ${seconds} s a run; load average before ${machine.loadBefore.toFixed(1)}.`,
    ...(note ? [note] : []),
  ];
  const figures = figuresOf(result).map(({ what, unit, floor, isCost, values, median: middle, meetsFloor }) => [
    what,
    `${middle.toFixed(2)} ${unit}`.trim(),
    values.map((value) => value.toFixed(2)).join(' '),
    `${isCost ? '≤' : '≥'} ${floor}`,
    meetsFloor ? 'met' : 'BELOW',
  ]);
  const sales = rounds.map((round, index) => [
    `round ${index + 1}`,
    ...[round.without, round.with].flatMap(({ perSecond, p99Ms }) => [perSecond.toFixed(0), p99Ms.toFixed(0)]),
  ]);
  const slow = (ms: number): string => `${ms.toFixed(1)}${ms > FLOORS.readMs ? ' SLOW' : ''}`;
  const latencies = reads.map(({ url, p50Ms, maxMs }) => [`\`${withoutIds(url)}\``, slow(p50Ms), slow(maxMs)]);
  const wrong = rounds.flatMap((round) => [...Object.entries(round.without.refusals), ...Object.entries(round.with.refusals)]);
  const remarks = [
    ...faults.map((fault) => `- **${fault}**`),
    ...wrong.map(([code, count]) => `- refused ${code} ${count} times`),
  ];
  const sections = [
    head.join('\n'),
    markdownTable(['figure', 'measured', 'rounds', 'floor', ''], figures),
    ...(sales.length > 0 ? [markdownTable(['', 'without: purchases/s', 'p99 ms', 'with: purchases/s', 'p99 ms'], sales)] : []),
    markdownTable(['GET /api/v1…', 'p50 ms', 'max ms'], latencies),
    ...(remarks.length > 0 ? [remarks.join('\n')] : []),
    DESCRIPTION,
  ];
  return `${sections.join('\n\n')}\n`;
}

const withoutIds = (url: string): string => url.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…');

const DESCRIPTION = [
  'Two databases on one server have the same matches to sell; one of them also has the history. Runs alternate between them, each with the',
  'started system of bench:whole without the notification worker, so that mails of earlier runs cost nothing, an empty Redis and buyers in a',
  'process of their own, after a warm-up as long as a run. A purchase is hold, checkout, sandbox payment and completed order. Afterwards `verify`',
  'must find nothing in either database. The reads are called over HTTP while nobody buys, one at a time, eleven times each, without the first.',
  'bench/history/past-sales.ts says what the history has.',
].join('\n');
