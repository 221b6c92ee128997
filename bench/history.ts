// `npm run bench:history`: whole purchases per second with millions of orders of past matches in the database, compared with none, and how
// long the reads of fans, operators and partners take with them. Prints a table and writes bench/results. Exits with 1 if the tables are
// wrong, a run failed or, with --gate, a figure is below its floor.
import { parseArgs } from 'node:util';
import { build } from '../tools/local/build.ts';
import { renderReport, writeResults, figuresOf, type HistoryResult } from './history/report.ts';
import { measureReadsWithHistory, measureRound, prepareDatabases, type HistoryRound } from './history/run.ts';
import { describeMachine } from './instruments/machine.ts';
import { type OwnServers, startOwnServers } from './instruments/own-servers.ts';
import { runBenchmark } from './instruments/run-benchmark.ts';
import { findBrokenInvariants } from './instruments/verified.ts';
import { Stadiums } from './purchase/stadiums.ts';

const USAGE = `npm run bench:history -- [--quick] [--orders 2000000] [--rounds 3] [--seconds 5] [--buyers 64] [--gate] [--no-build] [--name <word>] [--note <text>]
  --quick     200,000 orders and one short round: about a minute and a half. In full it takes about eight minutes and 7 GB of disk
  --orders    size of the history, a multiple of 10,000
  --gate      exit with 1 if a figure is below its floor
  --no-build  measure the existing dist
  --name      part of the result's file name, as in 2026-11-20-history-<name>.md
  --note      a sentence for the top of the report`;

const ORDERS_OF_MATCH = 10_000;
const DAYS = 1000;
/** With two million orders `verify` needs more than two minutes on a busy machine. */
const VERIFY_TIMEOUT_MS = 900_000;

const startedAt = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

interface Options {
  readonly orders: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly buyers: number;
  readonly gate: boolean;
  readonly build: boolean;
  readonly name: string | undefined;
  readonly note: string | undefined;
}

function readOptions(): Options | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      ...{ orders: text, rounds: text, seconds: text, buyers: text, name: text, note: text },
      ...{ quick: flag, gate: flag, help: flag, build: { ...flag, default: true } },
    },
  });
  const { quick, gate, build: shouldBuild, name, note } = values;
  const orders = Number(values.orders ?? (quick ? 200_000 : 2_000_000));
  const [rounds, seconds] = [Number(values.rounds ?? (quick ? 1 : 3)), Number(values.seconds ?? (quick ? 2.5 : 5))];
  const buyers = Number(values.buyers ?? 64);
  const isValid = orders > 0 && orders % ORDERS_OF_MATCH === 0 && rounds >= 0 && seconds > 0 && buyers > 0;
  if (values.help || !isValid) return undefined;
  return { orders, rounds, seconds, buyers, gate, build: shouldBuild, name, note };
}

async function measure({ orders, rounds: count, seconds, buyers, note }: Options, servers: OwnServers): Promise<HistoryResult> {
  const [machine, at] = [describeMachine(), new Date()];
  const stadiums = await Stadiums.open(servers);
  try {
    const size = { matches: orders / ORDERS_OF_MATCH, ordersOfMatch: ORDERS_OF_MATCH, days: DAYS };
    say(`adding ${orders} orders of ${size.matches} past matches`);
    const databases = await prepareDatabases(stadiums, size, say);
    say(`the history takes ${databases.historyGib.toFixed(1)} GiB`);
    const reads = await measureReadsWithHistory(servers, databases);
    say(`the slowest of ${reads.length} reads took ${Math.max(...reads.map(({ maxMs }) => maxMs)).toFixed(0)} ms`);
    const rounds: HistoryRound[] = [];
    while (rounds.length < count) {
      const round = await measureRound({ servers, stadiums, databases }, { round: rounds.length, buyers, seconds });
      rounds.push(round);
      say(`without ${round.without.perSecond.toFixed(0)} purchases/s, with ${round.with.perSecond.toFixed(0)}/s`);
    }
    const { redisUrl } = servers;
    const faults: string[] = [];
    for (const databaseUrl of [databases.without, databases.with])
      faults.push(...(await findBrokenInvariants({ databaseUrl, redisUrl }, VERIFY_TIMEOUT_MS)));
    return { at, machine, orders, historyGib: databases.historyGib, buyers, seconds, note, rounds, reads, faults };
  } finally {
    await stadiums.close();
  }
}

async function main(options: Options): Promise<number> {
  if (options.build) await build({ say, serverOnly: true });
  const servers = await startOwnServers();
  try {
    const result = await measure(options, servers);
    process.stdout.write(renderReport(result));
    say(`written to ${writeResults(result, options.name)}`);
    const isBelow = options.gate && figuresOf(result).some(({ meetsFloor }) => !meetsFloor);
    return result.faults.length > 0 || isBelow ? 1 : 0;
  } finally {
    await servers.stop();
  }
}

await runBenchmark({ usage: USAGE, readOptions, main });
