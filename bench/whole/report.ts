import type { Machine } from '../instruments/machine.ts';
import { markdownTable } from '../instruments/markdown-table.ts';
import { writeFiles } from '../instruments/results.ts';
import { median } from '../instruments/quantiles.ts';
import { figuresOf, type WholeRound, yardstick } from './figures.ts';
import { costOfMail, costOfPurchase, mergeTimes, parts, type PartTimes } from './parts.ts';
import type { MailCost } from './mail-cost.ts';
import { DRAIN_RATE_PER_SECOND, type WholeRun } from './run.ts';

/** Everything that one run of the benchmark measured, as it is written to the JSON file. */
export interface WholeResult {
  readonly at: Date;
  readonly machine: Machine;
  readonly seconds: number;
  readonly note: string | undefined;
  readonly rounds: readonly WholeRound[];
  readonly mailCosts: readonly MailCost[];
}

/** Writes the result to bench/results. Returns the path of both files for a message to the user. */
export function writeResults(result: WholeResult, name: string | undefined): string {
  const data = { ...result, figures: figuresOf(result.rounds) };
  return writeFiles({ at: result.at, benchmark: 'whole', name, report: renderReport(result), data });
}

/** The Markdown report of a benchmark result. */
export function renderReport({ at, machine, seconds, rounds, mailCosts, note }: WholeResult): string {
  const spread = rounds.flatMap(({ pgbench }) => pgbench.map(({ perSecond }) => perSecond));
  const head = [
    `# Whole system benchmark, ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `Commit ${machine.commit}. ${machine.cores} × ${machine.processor}, ${machine.memoryGib} GiB, ${machine.platform}, Node ${machine.node}.`,
    `${rounds.length} round${rounds.length === 1 ? '' : 's'} of ${seconds} s a run, medians; load average before ${machine.loadBefore.toFixed(1)}, ` +
      `${spread.length > 0 ? `pgbench between ${whole(Math.min(...spread))} and ${whole(Math.max(...spread))}/s. ` : ''}**Rate limits of requests are off.**`,
    ...(note ? [note] : []),
  ];
  const tables = rounds.length > 0 ? [figureTable(rounds), runTable(rounds), costTable(rounds), drainTable(rounds)] : [];
  const sections = [head.join('\n'), ...tables, mailCostTable(mailCosts), remarks(rounds)].filter((section) => section !== '');
  return `${[...sections, DESCRIPTION].join('\n\n')}\n`;
}

function figureTable(rounds: readonly WholeRound[]): string {
  const rows = figuresOf(rounds).map(({ what, unit, floor, isCost, values, median: middle, meetsFloor }) => [
    what,
    `${short(middle)} ${unit}`.trim(),
    values.map(short).join(' '),
    floor === undefined ? '' : `${isCost ? '≤' : '≥'} ${floor}`,
    floor === undefined ? '' : meetsFloor ? 'met' : 'BELOW',
  ]);
  return markdownTable(['figure', 'measured', 'rounds', 'floor', ''], rows);
}

/** The runs of the same scenario in all rounds. */
function scenariosOf(rounds: readonly WholeRound[]): (readonly [string, WholeRun[]])[] {
  const named = Map.groupBy(
    rounds.flatMap(({ runs }) => runs),
    ({ mode, buyers }) => `${buyers} buyers, worker ${mode}`,
  );
  return [...named];
}

function runTable(rounds: readonly WholeRound[]): string {
  const shareOf = (run: WholeRun): number => run.perSecond / yardstick(rounds.find(({ runs }) => runs.includes(run))!);
  const rows = scenariosOf(rounds).map(([name, runs]) => {
    const medianOf = (value: (run: WholeRun) => number): number => median(runs.map(value));
    return [
      name,
      whole(medianOf(({ perSecond }) => perSecond)),
      short(medianOf(shareOf)),
      ...[whole(medianOf(({ p50Ms }) => p50Ms)), whole(medianOf(({ p99Ms }) => p99Ms))],
      whole(medianOf(({ mailsPerSecond }) => mailsPerSecond)),
      whole(medianOf(({ queueMessagesPerSecond }) => queueMessagesPerSecond)),
      runs.every(({ faults }) => faults.length === 0) ? 'right' : 'BROKEN',
    ];
  });
  return markdownTable(
    ['run', 'purchases/s', '× pgbench', 'p50 ms', 'p99 ms', 'mails/s', 'messages/s to sockets', 'tables and mails'],
    rows,
  );
}

const timesRow = (name: string, times: readonly PartTimes[], sum: (times: PartTimes) => number): string[] => {
  const merged = mergeTimes(times, median);
  return [name, ...parts.map((part) => whole(merged[part])), whole(sum(merged))];
};

function costTable(rounds: readonly WholeRound[]): string {
  const rows = scenariosOf(rounds).map(([name, runs]) =>
    timesRow(
      name,
      runs.map(({ perPurchase }) => perPurchase),
      costOfPurchase,
    ),
  );
  return markdownTable(['CPU µs of one purchase', ...parts, 'together without buyers'], rows);
}

function drainTable(rounds: readonly WholeRound[]): string {
  const rows = scenariosOf(rounds).flatMap(([name, runs]) => {
    const drains = runs.flatMap(({ drain }) => drain ?? []);
    if (drains.length === 0) return [];
    const times = drains.map(({ perMail }) => perMail);
    return [[...timesRow(`after ${name}`, times, costOfMail), whole(median(drains.map(({ perSecond }) => perSecond)))]];
  });
  return rows.length === 0
    ? ''
    : markdownTable(['CPU µs of one mail, without a sale', ...parts, 'worker, PostgreSQL, Redis', 'mails/s'], rows);
}

/** What a mail costs by part. The columns are providers. */
function mailCostTable(costs: readonly MailCost[]): string {
  if (costs.length === 0) return '';
  const ofWorker = [...new Set(costs.flatMap(({ worker }) => Object.keys(worker)))];
  const row = (name: string, value: (cost: MailCost) => number): string[] => [name, ...costs.map((cost) => whole(value(cost)))];
  const rows = [
    ...ofWorker.map((part) => row(`worker: ${part}`, ({ worker }) => worker[part] ?? 0)),
    row('PostgreSQL', ({ perMail }) => perMail.PostgreSQL),
    row('Redis', ({ perMail }) => perMail.Redis),
    row('together', ({ perMail }) => costOfMail(perMail)),
  ];
  return markdownTable(['CPU µs of one mail by part', ...costs.map(({ provider }) => provider)], rows);
}

/** Faults, failed scenarios and refusals. */
function remarks(rounds: readonly WholeRound[]): string {
  const lines = rounds.flatMap(({ runs, failures }) => [
    ...runs.flatMap(({ mode, buyers, faults, refusals }) => [
      ...faults.map((fault) => `- **${buyers} buyers, worker ${mode}: ${fault}**`),
      ...Object.entries(refusals).map(([code, count]) => `- ${buyers} buyers, worker ${mode}: refused ${code} ${count} times`),
    ]),
    ...failures.map((failure) => `- **${failure}**`),
  ]);
  return lines.join('\n');
}

const DESCRIPTION = [
  'Each run has a fresh copy of the database, an empty Redis, and the monolith, the queue service and the notification worker as processes',
  'of their own, with the settings of `npm start` except rate limits and log level; mails go to the mailbox. The buyers are one more',
  'process, with one connection each. Each purchase is made by a new fan: hold of two adjacent seats, checkout, sandbox payment, then the',
  'order is read every 50 ms until it is complete. Meanwhile 300 fans wait in the line of another match, each on a socket, and four times a',
  'second one of them leaves and joins again. Closed loops, after a warm-up as long as a run. Worker `paused`: its queues are paused;',
  '`absent`: there is no worker. `smtp`: as `running`, but mails go to an SMTP server on the same machine, which is not part of the system.',
  `After the sale a new worker sends the remaining mails with EMAIL_RATE_PER_SECOND=${DRAIN_RATE_PER_SECOND}. Then every order must have exactly its two`,
  'mails, and `verify` must find nothing. pgbench: scale 20, `-N -c 64 -j 2 -M prepared`, before and after each round; the mean of both is',
  'the yardstick. PostgreSQL is the sum of all its processes; "of it for the worker" are the backends that serve the notification worker.',
  "The cost of a mail by part: the worker's processor time, divided by a CPU profile, in which the innermost known part counts.",
].join('\n');

const whole = (value: number): string => (Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en'));
const short = (value: number): string =>
  Number.isNaN(value) ? '–' : value >= 10 || value === 0 ? whole(value) : value.toPrecision(2);
