// `npm run bench:purchase`: reservations per second, compared with pgbench on the same server. Prints a table and writes bench/results.
// Exits with 0 whatever the figures are; with 1 if the tables are wrong, a scenario failed or, with --gate, a figure is below its
// floor; with 3 if there is no pgbench to compare with.
import 'reflect-metadata';
import { Redis } from 'ioredis';
import { parseArgs } from 'node:util';
import { build } from '../tools/local/build.ts';
import { describeMachine } from './instruments/machine.ts';
import { type OwnServers, startOwnServers } from './instruments/own-servers.ts';
import { runBenchmark } from './instruments/run-benchmark.ts';
import { figuresOf, type Round } from './purchase/figures.ts';
import { type BenchmarkResult, renderReport, writeResults } from './purchase/report.ts';
import { type PurchaseSetup, runOnce, type RunResult } from './purchase/run.ts';
import { type Scenario, scenarios } from './purchase/scenarios.ts';
import { type Stadium, type StadiumName, Stadiums, withClient } from './purchase/stadiums.ts';
import { pgbenchBinary } from './yardsticks/pgbench-binary.ts';
import { type Pgbench, preparePgbench, runPgbench } from './yardsticks/pgbench.ts';

const USAGE = `npm run bench:purchase -- [--quick] [--seconds 4] [--rounds 3] [--only <scenario>]… [--gate] [--no-build] [--name <word>] [--note <text>]
  --quick     one short round, at most two minutes
  --only      of: ${scenarios.map(({ name }) => name).join(', ')}
  --gate      exit with 1 if a figure is below its floor
  --no-build  measure the existing dist
  --name      part of the result's file name, as in 2026-11-18-purchase-<name>.md
  --note      a sentence for the top of the report`;

/** Time limits of the whole benchmark. A run does not start if it could exceed the limit. */
const LIMIT_MS = { full: 8 * 60_000, quick: 120_000 };
const MAX_RUN_MS = 30_000;

const startedAt = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly chosen: readonly Scenario[];
  /** Number of matches, including one for warming up. */
  readonly matches: number;
  readonly limitMs: number;
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
      ...{ seconds: text, rounds: text, name: text, note: text, only: { ...text, multiple: true } },
      ...{ quick: flag, gate: flag, help: flag, build: { ...flag, default: true } },
    },
  });
  const only = values.only?.flatMap((names) => names.split(',')) ?? [];
  const chosen = scenarios.filter(({ name }) => only.length === 0 || only.includes(name));
  const [seconds, rounds] = [Number(values.seconds ?? (values.quick ? 1.5 : 4)), Number(values.rounds ?? (values.quick ? 1 : 3))];
  const isValid = only.every((name) => scenarios.some((scenario) => scenario.name === name)) && seconds > 0 && rounds > 0;
  if (values.help || !isValid) return undefined;
  const { quick, gate, build: shouldBuild, name, note } = values;
  const limitMs = quick ? LIMIT_MS.quick : LIMIT_MS.full;
  return { seconds, rounds, chosen, matches: (quick ? 2 : 8) + 1, limitMs, gate, build: shouldBuild, name, note };
}

type Built = Readonly<Partial<Record<StadiumName, Stadium>>>;

async function buildStadiums(stadiums: Stadiums, { chosen, matches }: Options): Promise<Built> {
  const isWanted = (name: StadiumName): boolean => chosen.some(({ stadium }) => stadium === name);
  say(`laying out ${matches} matches of 40,000 seats`);
  const fresh = await stadiums.build('fresh', matches, 2000);
  const built: Partial<Record<StadiumName, Stadium>> = { fresh };
  if (isWanted('doubled')) {
    // The matches of this stadium have twice as many seats, so half as many matches are enough for the same number of buyers.
    const count = Math.ceil((matches - 1) / 2) + 1;
    say(`laying out ${count} matches of 80,000 seats`);
    built.doubled = await stadiums.build('doubled', count, 4000);
  }
  if (isWanted('nearly sold')) {
    say('selling four fifths of copies of the first matches');
    built['nearly sold'] = await stadiums.presold('nearly_sold', fresh);
  }
  return built;
}

async function measureRound(options: Options, setup: PurchaseSetup, pgbench: Pgbench, built: Built): Promise<Round> {
  const yardstick = async () => {
    await setup.stadiums.checkpoint();
    const result = await runPgbench(pgbench, Math.ceil(options.seconds));
    say(`pgbench -N: ${result.perSecond.toFixed(0)}/s`);
    return result;
  };
  const before = await yardstick();
  const [runs, failures]: [RunResult[], string[]] = [[], []];
  for (const scenario of options.chosen) {
    if (isTimeUp(options)) break;
    try {
      const result = await runOnce(setup, scenario, built[scenario.stadium]!, options.seconds);
      runs.push(result);
      say(
        `${scenario.name}: ${result.perSecond.toFixed(0)}/s, p99 ${result.p99Ms.toFixed(1)} ms${openingText(result)}${result.faults.map((fault) => `, ${fault}`).join('')}`,
      );
    } catch (error) {
      failures.push(`${scenario.name} failed: ${error instanceof Error ? error.message : String(error)}`);
      say(failures.at(-1)!);
    }
  }
  return { pgbench: [before, await yardstick()], runs, failures };
}

function openingText({ opening }: RunResult): string {
  if (!opening) return '';
  return ` (first 2 s ${opening.firstP99Ms.toFixed(0)} ms, tenth second ${opening.tenthP99Ms.toFixed(0)} ms)`;
}

function isTimeUp({ limitMs }: Options): boolean {
  return Date.now() - startedAt > limitMs - MAX_RUN_MS;
}

async function measure(options: Options, servers: OwnServers, pgbench: Pgbench): Promise<BenchmarkResult> {
  const machine = describeMachine();
  const [at, serverDescriptions] = [new Date(), await describeServers(servers)];
  say('preparing pgbench');
  await preparePgbench(pgbench);
  const stadiums = await Stadiums.open(servers);
  try {
    const built = await buildStadiums(stadiums, options);
    const rounds: Round[] = [];
    while (rounds.length < options.rounds && !isTimeUp(options))
      rounds.push(await measureRound(options, { servers, stadiums }, pgbench, built));
    const cutShort =
      rounds.length < options.rounds ||
      rounds.some(({ runs, failures }) => runs.length + failures.length < options.chosen.length);
    const { seconds, note } = options;
    return { at, machine, servers: { ...serverDescriptions, pgbench: pgbench.binary.version }, seconds, note, cutShort, rounds };
  } finally {
    await stadiums.close();
  }
}

async function describeServers({ databaseUrl, redisUrl }: OwnServers): Promise<Record<string, string>> {
  const settingNames = [
    'server_version',
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'max_pred_locks_per_page',
    'max_pred_locks_per_relation',
  ];
  const settings = await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string; setting: string }>(
      'select name, setting from pg_settings where name = any($1)',
      [settingNames],
    );
    return new Map(rows.map(({ name, setting }) => [name, setting]));
  });
  const redis = new Redis(redisUrl);
  const [, redisVersion = 'unknown'] = /redis_version:(\S+)/.exec(await redis.info('server')) ?? [];
  await redis.quit();
  const [version, ...rest] = settingNames;
  return {
    PostgreSQL: `${settings.get(version!)} (${rest.map((name) => `${name} ${settings.get(name)}`).join(', ')})`,
    Redis: redisVersion,
  };
}

async function main(options: Options): Promise<number> {
  const binary = pgbenchBinary(say);
  if (options.build) await build({ say, serverOnly: true });
  const servers = await startOwnServers();
  try {
    const meter = { service: [], load: [], ...servers.pids };
    const measured = await measure(options, servers, { binary, databaseUrl: servers.databaseUrl, meter });
    process.stdout.write(renderReport(measured));
    say(`written to ${writeResults(measured, options.name)}`);
    const isBroken = measured.rounds.some(
      ({ runs, failures }) => failures.length > 0 || runs.some(({ faults }) => faults.length > 0),
    );
    const isBelow = options.gate && figuresOf(measured.rounds).some(({ meetsFloor }) => !meetsFloor);
    return isBroken || isBelow ? 1 : 0;
  } finally {
    await servers.stop();
  }
}

await runBenchmark({ usage: USAGE, readOptions, main });
