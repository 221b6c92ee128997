import type { Machine } from '../instruments/machine.ts';
import { markdownTable } from '../instruments/markdown-table.ts';
import { writeFiles } from '../instruments/results.ts';
import { median } from '../instruments/quantiles.ts';
import { figuresOf, yardstick, type Figure, type Round } from './figures.ts';
import type { RunResult } from './run.ts';
import { scenarios } from './scenarios.ts';

/** Everything that one run of the benchmark measured, as it is written to the JSON file. */
export interface BenchmarkResult {
  readonly at: Date;
  readonly machine: Machine;
  /** Versions and settings of PostgreSQL, Redis and pgbench. */
  readonly servers: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly note: string | undefined;
  /** True if the time limit was reached before all rounds were run. */
  readonly cutShort: boolean;
  readonly rounds: readonly Round[];
}

/** Writes the result to bench/results. Returns the path of both files for a message to the user. */
export function writeResults(measured: BenchmarkResult, name: string | undefined): string {
  const data = { ...measured, figures: figuresOf(measured.rounds) };
  return writeFiles({ at: measured.at, benchmark: 'purchase', name, report: renderReport(measured), data });
}

/** The Markdown report of a benchmark result. */
export function renderReport(measured: BenchmarkResult): string {
  const { machine, servers, seconds, rounds, note, cutShort } = measured;
  const spread = rounds.flatMap(({ pgbench }) => pgbench.map(({ perSecond }) => perSecond));
  const head = [
    `# Purchase benchmark, ${measured.at.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `Commit ${machine.commit}. ${machine.cores} × ${machine.processor}, ${machine.memoryGib} GiB, ${machine.platform}, Node ${machine.node}, ` +
      `${Object.entries(servers)
        .map(([what, version]) => `${what} ${version}`)
        .join(', ')}.`,
    `${rounds.length} round${rounds.length === 1 ? '' : 's'} of ${seconds} s a run, medians; load average before ${machine.loadBefore.toFixed(1)}, ` +
      `pgbench between ${whole(Math.min(...spread))} and ${whole(Math.max(...spread))}/s. **Rate limits are off.**`,
    ...(cutShort ? ['The time limit was reached before all rounds were run.'] : []),
    ...(note ? [note] : []),
  ];
  const figures = figuresOf(rounds);
  const parts = [head.join('\n'), figureTable(figures), runTable(rounds), ...remarks(rounds), description()];
  return `${parts.join('\n\n')}\n`;
}

function figureTable(figures: readonly Figure[]): string {
  return markdownTable(
    ['figure', 'measured', 'rounds', 'floor', 'aim', ''],
    figures.map((figure) => [
      figure.what,
      `${short(figure.median)} ${figure.unit}`,
      figure.values.map(short).join(' '),
      `${figure.isCost ? '≤' : '≥'} ${figure.floor}`,
      `${figure.isCost ? '≤' : '≥'} ${figure.aim}`,
      figure.meetsAim ? 'aim met' : figure.meetsFloor ? 'floor met' : 'BELOW FLOOR',
    ]),
  );
}

function runTable(rounds: readonly Round[]): string {
  const pgbench = rounds.flatMap((round) => round.pgbench);
  const medianOf = (value: (run: (typeof pgbench)[number]) => number): number => median(pgbench.map(value));
  const rows = [
    [
      ...['pgbench -N, 64 clients', whole(medianOf(({ perSecond }) => perSecond)), '1.00'],
      ...[ms(medianOf(({ p50Ms }) => p50Ms)), ms(medianOf(({ p99Ms }) => p99Ms)), '', '', ''],
      ...[
        whole(medianOf(({ cpuMicros }) => cpuMicros?.client ?? Number.NaN)),
        whole(medianOf(({ cpuMicros }) => cpuMicros?.database ?? Number.NaN)),
      ],
      ...['', '', ''],
    ],
    ...scenarios.flatMap(({ name }) => runRow(name, rounds)),
  ];
  const cpu = ['CPU µs service', 'database', 'Redis', 'load'];
  return markdownTable(
    ['run', 'per s', '× pgbench', 'p50 ms', 'p99 ms', 'retries ‰', '503 ‰', 'refused ‰', ...cpu, 'tables'],
    rows,
  );
}

function runRow(name: string, rounds: readonly Round[]): string[][] {
  const runs = rounds.flatMap((round) =>
    round.runs.filter(({ scenario }) => scenario === name).map((run) => ({ run, yardstick: yardstick(round) })),
  );
  if (runs.length === 0) return [];
  const medianOf = (value: (run: RunResult, perSecond: number) => number): number =>
    median(runs.map((entry) => value(entry.run, entry.yardstick)));
  const perMille = (value: (run: RunResult) => number): string => short(medianOf((run) => (1000 * value(run)) / run.done));
  const refused = ({ refusals, busy }: RunResult): number =>
    Object.values(refusals).reduce((sum, count) => sum + count, 0) - busy;
  const faults = runs.flatMap(({ run }) => run.faults);
  return [
    [
      ...[
        name,
        whole(medianOf(({ perSecond }) => perSecond)),
        short(medianOf(({ perSecond }, reference) => perSecond / reference)),
      ],
      ...[ms(medianOf(({ p50Ms }) => p50Ms)), ms(medianOf(({ p99Ms }) => p99Ms))],
      ...[perMille(({ retries }) => retries), perMille(({ busy }) => busy), perMille(refused)],
      ...[whole(medianOf(({ cpu }) => cpu.service)), whole(medianOf(({ cpu }) => cpu.database))],
      ...[whole(medianOf(({ cpu }) => cpu.redis)), whole(medianOf(({ cpu }) => cpu.load))],
      faults.length === 0 ? 'right' : 'BROKEN',
    ],
  ];
}

/** Results outside the tables: broken database tables, refusals by code, runs that sold out early, availability reads. */
function remarks(rounds: readonly Round[]): string[] {
  const runs = rounds.flatMap((round) => round.runs);
  const lines = runs.flatMap(({ scenario, faults }) => faults.map((fault) => `- **${scenario}: ${fault}**`));
  for (const failure of rounds.flatMap(({ failures }) => failures)) lines.push(`- **${failure}**`);
  for (const { name } of scenarios) {
    const ownRuns = runs.filter(({ scenario }) => scenario === name);
    const counts: Record<string, number> = {};
    for (const { refusals } of ownRuns)
      for (const [refusal, count] of Object.entries(refusals)) counts[refusal] = (counts[refusal] ?? 0) + count;
    const refused = Object.entries(counts).map(([refusal, count]) => `${refusal} ${count} times`);
    if (refused.length > 0) lines.push(`- ${name} was refused: ${refused.join(', ')}`);
    const soldOutRuns = ownRuns.filter(({ ranOut }) => ranOut);
    if (soldOutRuns.length > 0)
      lines.push(`- ${name} had sold everything after ${soldOutRuns.map(({ seconds }) => seconds.toFixed(1)).join(', ')} s`);
  }
  const reads = runs.flatMap(({ availability }) => availability ?? []);
  if (reads.length > 0) {
    const [sectors, seats] = [median(reads.map(({ sectorsMs }) => sectorsMs)), median(reads.map(({ seatsMs }) => seatsMs))];
    lines.push(
      `- availability of a match of 40,000 seats: its 20 sectors in ${ms(sectors)} ms, the 2,000 seats of one in ${ms(seats)} ms`,
    );
  }
  return lines.length > 0 ? [lines.join('\n')] : [];
}

function description(): string {
  return [
    `Requests: the best two adjacent seats in a random sector, each from a new fan; matches of 40,000 seats in 20`,
    `sectors; at 80 % sold the buyers switch to the next match. Closed loops. Before the measurement, one purchase is made in every sector`,
    `of every match, and the processes warm up for the length of a run or nearly a match (three over HTTP). Buyers, services, PostgreSQL and Redis share the`,
    `machine; "load" is the processor time of the HTTP buyers. PostgreSQL has default durability (fsync on); only max_pred_locks_* is raised.`,
    `pgbench: scale 20, \`-N -c 64 -j 2 -M prepared\`, before and after each round; the mean of both is the yardstick. The tables are`,
    `checked after every run.`,
    '',
    ...scenarios.map(({ name, does }) => `- \`${name}\`: ${does}`),
  ].join('\n');
}

const whole = (value: number): string => (Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en'));
const short = (value: number): string =>
  Number.isNaN(value) ? '–' : value >= 10 || value === 0 ? value.toFixed(0) : value.toPrecision(2);
const ms = (value: number): string => (Number.isNaN(value) ? '–' : value >= 10 ? value.toFixed(0) : value.toFixed(1));
