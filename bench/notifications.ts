// `npm run bench:notifications`: how fast messages are sent. Each figure is compared, in the same run, with the plain technology below
// it, such as bare BullMQ. Prints a table and writes bench/results. Exits with 0 whatever the figures are, and with 1 if a measurement
// failed or, with --gate, a figure is below its floor. Rate limits are off, except in the measurement of a limit.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { explain } from '../tools/local/trouble.ts';
import { describeMachine } from './instruments/machine.ts';
import { markdownTable } from './instruments/markdown-table.ts';
import { median, p99 } from './instruments/quantiles.ts';
import { openSetup, type BenchSetup } from './notifications/setup.ts';
import {
  mailRates,
  maxSendsInOneSecond,
  pushesAsRanges,
  pushesAsSingleJobs,
  turnPushLatencies,
} from './notifications/measures.ts';
import { broadcastDelivered, broadcastDrain, outboxDrain } from './notifications/outbox-measures.ts';

const USAGE = `npm run bench:notifications -- [--quick] [--rounds 3] [--gate] [--name <word>] [--note <text>] [--only <parts>]
  --quick  one round with smaller numbers, about half a minute
  --only   only some of ranges,mails,turns,limit,drain,broadcast; prints the table and writes no file`;

interface Figure {
  readonly what: string;
  readonly unit: string;
  /** The lowest accepted value; the highest one if `isCost`. A figure without floor and aim is only reported. */
  readonly floor: number | undefined;
  readonly aim: number | undefined;
  /** True if less is better. */
  readonly isCost?: boolean;
  readonly values: number[];
  readonly details: string[];
}

const figure = (what: string, unit: string, floor?: number, aim?: number, isCost?: boolean): Figure => ({
  what,
  unit,
  floor,
  aim,
  isCost,
  values: [],
  details: [],
});

const figures = {
  ranges: figure('100,000 pushes to a no-op provider vs one BullMQ job a token', '×', 10, 50),
  mails: figure('e-mail jobs/s with a no-op provider vs bare BullMQ', '×', 0.5, 0.8),
  turns: figure('turn_granted to the provider behind 100,000 bulk pushes, p99', 'ms', 1000, 200, true),
  limit: figure('most sends in any second at limit 100, rollout of two workers', '', 100, 100, true),
  drain: figure('outbox drained into BullMQ jobs vs addBulk without a database', '×', 0.5, 0.7),
  broadcast: figure(
    'broadcast rows (one row per ≤ 500 recipients) out of the outbox into Redis, in bundles, vs DB-only DELETE drain of the same rows',
    '×',
    0.5,
    0.8,
  ),
  queued: figure('the same rows until each is a job in its queue: drained, then unpacked by a worker', 'rows/s'),
  delivered: figure('a broadcast to 100,000, from its rows in the outbox to the last device at a no-op provider', 'ms'),
};

const startedAt = Date.now();
const say = (text: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}\n`);
const whole = (value: number): string => Math.round(value).toLocaleString('en');
const short = (value: number): string => (value >= 100 ? whole(value) : value.toPrecision(3));

function record(target: Figure, value: number, detail: string): void {
  target.values.push(value);
  target.details.push(detail);
  say(`${target.what}: ${short(value)} ${target.unit} (${detail})`);
}

type Part = (setup: BenchSetup, isQuick: boolean) => Promise<void>;

const parts: Readonly<Record<string, Part>> = {
  ranges: async (setup, isQuick) => {
    const perToken = await pushesAsSingleJobs(setup, isQuick ? 10_000 : 30_000);
    const inRanges = await pushesAsRanges(setup, 100_000);
    record(figures.ranges, inRanges / perToken, `${whole(inRanges)} against ${whole(perToken)} devices/s`);
  },
  mails: async (setup, isQuick) => {
    const sent = await mailRates(setup, isQuick ? 10_000 : 20_000);
    record(figures.mails, sent.ours / sent.bare, `${whole(sent.ours)} against ${whole(sent.bare)} jobs/s`);
  },
  turns: async (setup, isQuick) => {
    const turns = await turnPushLatencies(setup, isQuick ? 60 : 150);
    record(figures.turns, p99(turns), `median ${short(median(turns))} ms of ${turns.length}`);
  },
  limit: async (setup, isQuick) =>
    record(figures.limit, await maxSendsInOneSecond(setup, isQuick ? 300 : 450), 'counted at the provider'),
  drain: async (setup, isQuick) => {
    const drained = await outboxDrain(setup, isQuick ? 10_000 : 30_000);
    record(figures.drain, drained.ours / drained.bare, `${whole(drained.ours)} against ${whole(drained.bare)} rows/s`);
  },
  broadcast: async (setup, isQuick) => {
    const { ours, deleted, added, queued } = await broadcastDrain(setup, isQuick ? 4000 : 20_000);
    record(
      figures.broadcast,
      ours / deleted,
      `${whole(ours)} against ${whole(deleted)} rows/s, ${whole(500 * ours)} recipients/s`,
    );
    const asJobs = `${whole(500 * queued)} recipients/s; ${short(queued / added)} × addBulk of the same jobs alone (${whole(added)} rows/s)`;
    record(figures.queued, queued, asJobs);
    record(figures.delivered, await broadcastDelivered(setup, 100_000), '200 rows, 500 devices a call');
  },
};

const verdict = ({ values, floor, aim, isCost }: Figure): string => {
  if (floor === undefined || aim === undefined) return '';
  const reaches = (bound: number): boolean => (isCost ? median(values) <= bound : median(values) >= bound);
  return reaches(aim) ? 'aim' : reaches(floor) ? 'floor' : '**below**';
};

const measured = (): Figure[] => Object.values(figures).filter(({ values }) => values.length > 0);

function report(rounds: number, loadNote: string | undefined): string {
  const machine = describeMachine();
  const rows = measured().map((row) => [
    row.what,
    `${short(median(row.values))} ${row.unit}`,
    row.values.map(short).join(' '),
    `${row.floor ?? ''}`,
    `${row.aim ?? ''}`,
    verdict(row),
    row.details.at(-1) ?? '',
  ]);
  return `${[
    `# Notifications benchmark, ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `Commit ${machine.commit}. ${machine.cores} × ${machine.processor}, ${machine.memoryGib} GiB, ${machine.platform}, Node ${machine.node}. ` +
      `${rounds} round${rounds === 1 ? '' : 's'}, medians; load average before ${machine.loadBefore.toFixed(1)}. One process sends and measures; ` +
      'PostgreSQL commits to disk.',
    ...(loadNote ? [loadNote] : []),
    '',
    markdownTable(['figure', 'measured', 'rounds', 'floor', 'aim', '', 'last round'], rows),
  ].join('\n')}\n`;
}

function writeResults(text: string): void {
  const folder = path.resolve(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${new Date().toISOString().slice(0, 10)}-notifications${values.name ? `-${values.name}` : ''}`);
  writeFileSync(`${file}.md`, text);
  writeFileSync(`${file}.json`, `${JSON.stringify({ machine: describeMachine(), figures }, undefined, 2)}\n`);
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    name: { type: 'string' },
    note: { type: 'string' },
    only: { type: 'string' },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
const chosenParts = values.only?.split(',') ?? Object.keys(parts);
if (values.help || !(rounds > 0) || chosenParts.some((part) => !parts[part])) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(values.help ? 0 : 2);
}
try {
  const setup = await openSetup();
  try {
    for (let number = 1; number <= rounds; number += 1) for (const part of chosenParts) await parts[part]?.(setup, values.quick);
  } finally {
    await setup.stop();
  }
  const text = report(rounds, values.note);
  if (values.only === undefined) writeResults(text);
  process.stdout.write(text);
  if (values.gate && measured().some((result) => verdict(result) === '**below**')) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
