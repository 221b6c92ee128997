// `npm run bench:purchase`: how many seats are sold in a second, side by side with pgbench on the same server. Prints a table
// and writes bench/results. Ends with 0 whatever the figures are; with 1 when tables are wrong, a scenario failed or, under
// --gate, a floor is missed; with 3 when there is no pgbench to measure against.
import 'reflect-metadata';
import { Redis } from 'ioredis';
import { parseArgs } from 'node:util';
import { build } from '../tools/local/build.ts';
import { explain } from '../tools/local/trouble.ts';
import { describeMachine } from './instruments/machine.ts';
import { type OwnServers, startOwnServers } from './instruments/own-servers.ts';
import { figuresOf, type Round } from './purchase/figures.ts';
import { type Measured, reportOf, writeResults } from './purchase/report.ts';
import { type Ground, runOnce, type RunResult } from './purchase/run.ts';
import { type Scenario, scenarios } from './purchase/scenarios.ts';
import { type Stadium, type StadiumName, Stadiums, withClient } from './purchase/stadiums.ts';
import { PeerNotAvailable, pgbenchBinary } from './yardsticks/pgbench-binary.ts';
import { type Pgbench, preparePgbench, runPgbench } from './yardsticks/pgbench.ts';

const USAGE = `npm run bench:purchase -- [--quick] [--seconds 4] [--rounds 3] [--only <scenario>]… [--gate] [--no-build] [--name <word>] [--note <text>]
  --quick     one short round, at most a minute and a half
  --only      of: ${scenarios.map(({ name }) => name).join(', ')}
  --gate      exit 1 when a floor is missed
  --no-build  measure dist as it is
  --name      part of the result's file name, as in 2026-11-18-purchase-<name>.md
  --note      a sentence for the head of the report`;

/** No run begins that could not end in time. */
const LIMIT_MS = { full: 8 * 60_000, quick: 90_000 };
const A_RUN_MS = 12_000;

const startedAt = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

interface Wish {
  readonly seconds: number;
  readonly rounds: number;
  readonly chosen: readonly Scenario[];
  /** To sell, and to warm up. */
  readonly matches: number;
  readonly limitMs: number;
  readonly gate: boolean;
  readonly build: boolean;
  readonly name: string | undefined;
  readonly note: string | undefined;
}

function readOptions(): Wish | undefined {
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
  const isPlain = only.every((name) => scenarios.some((scenario) => scenario.name === name)) && seconds > 0 && rounds > 0;
  if (values.help || !isPlain) return undefined;
  const { quick, gate, build: isBuilding, name, note } = values;
  const limitMs = quick ? LIMIT_MS.quick : LIMIT_MS.full;
  return { seconds, rounds, chosen, matches: (quick ? 2 : 8) + 1, limitMs, gate, build: isBuilding, name, note };
}

type Built = Readonly<Partial<Record<StadiumName, Stadium>>>;

async function buildStadiums(stadiums: Stadiums, { chosen, matches }: Wish): Promise<Built> {
  const isWanted = (name: StadiumName): boolean => chosen.some(({ stadium }) => stadium === name);
  say(`laying out ${matches} matches of 40,000 seats`);
  const fresh = await stadiums.build('fresh', matches, 2000);
  const built: Partial<Record<StadiumName, Stadium>> = { fresh };
  if (isWanted('doubled')) {
    // A stadium twice as big serves as many buyers with half as many matches.
    const count = Math.ceil((matches - 1) / 2) + 1;
    say(`laying out ${count} matches of 80,000 seats`);
    built.doubled = await stadiums.build('doubled', count, 4000);
  }
  if (isWanted('nearly sold')) {
    say('selling four fifths of the first ones');
    built['nearly sold'] = await stadiums.presold('nearly_sold', fresh);
  }
  return built;
}

async function measureRound(wish: Wish, ground: Ground, pgbench: Pgbench, built: Built): Promise<Round> {
  const yardstick = async () => {
    await ground.stadiums.checkpoint();
    const result = await runPgbench(pgbench, Math.ceil(wish.seconds));
    say(`pgbench -N: ${result.perSecond.toFixed(0)}/s`);
    return result;
  };
  const before = await yardstick();
  const [runs, failures]: [RunResult[], string[]] = [[], []];
  for (const scenario of wish.chosen) {
    if (isLate(wish)) break;
    try {
      const result = await runOnce(ground, scenario, built[scenario.stadium]!, wish.seconds);
      runs.push(result);
      say(
        `${scenario.name}: ${result.perSecond.toFixed(0)}/s, p99 ${result.p99Ms.toFixed(1)} ms${result.faults.map((fault) => `, ${fault}`).join('')}`,
      );
    } catch (error) {
      failures.push(`${scenario.name} failed: ${error instanceof Error ? error.message : String(error)}`);
      say(failures.at(-1)!);
    }
  }
  return { pgbench: [before, await yardstick()], runs, failures };
}

function isLate({ limitMs }: Wish): boolean {
  return Date.now() - startedAt > limitMs - A_RUN_MS;
}

async function measure(wish: Wish, servers: OwnServers, pgbench: Pgbench): Promise<Measured> {
  const machine = describeMachine();
  const [at, facts] = [new Date(), await describeServers(servers)];
  say('preparing pgbench');
  await preparePgbench(pgbench);
  const stadiums = await Stadiums.open(servers);
  try {
    const built = await buildStadiums(stadiums, wish);
    const rounds: Round[] = [];
    while (rounds.length < wish.rounds && !isLate(wish))
      rounds.push(await measureRound(wish, { servers, stadiums }, pgbench, built));
    const cutShort =
      rounds.length < wish.rounds || rounds.some(({ runs, failures }) => runs.length + failures.length < wish.chosen.length);
    const { seconds, note } = wish;
    return { at, machine, servers: { ...facts, pgbench: pgbench.binary.version }, seconds, note, cutShort, rounds };
  } finally {
    await stadiums.close();
  }
}

async function describeServers({ databaseUrl, redisUrl }: OwnServers): Promise<Record<string, string>> {
  const shown = [
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
      [shown],
    );
    return new Map(rows.map(({ name, setting }) => [name, setting]));
  });
  const redis = new Redis(redisUrl);
  const [, redisVersion = 'unknown'] = /redis_version:(\S+)/.exec(await redis.info('server')) ?? [];
  await redis.quit();
  const [version, ...rest] = shown;
  return {
    PostgreSQL: `${settings.get(version!)} (${rest.map((name) => `${name} ${settings.get(name)}`).join(', ')})`,
    Redis: redisVersion,
  };
}

async function main(wish: Wish): Promise<number> {
  const binary = pgbenchBinary(say);
  if (wish.build) await build({ say, serverOnly: true });
  const servers = await startOwnServers();
  try {
    const meter = { service: [], load: [], ...servers.pids };
    const measured = await measure(wish, servers, { binary, databaseUrl: servers.databaseUrl, meter });
    process.stdout.write(reportOf(measured));
    say(`written to ${writeResults(measured, wish.name)}`);
    const isBroken = measured.rounds.some(
      ({ runs, failures }) => failures.length > 0 || runs.some(({ faults }) => faults.length > 0),
    );
    const isBelow = wish.gate && figuresOf(measured.rounds).some(({ meetsFloor }) => !meetsFloor);
    return isBroken || isBelow ? 1 : 0;
  } finally {
    await servers.stop();
  }
}

// Everything we started goes when we go: it hears the end of its pipe or channel.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

try {
  const wish = readOptions();
  if (wish) process.exitCode = await main(wish);
  else process.stderr.write(`${USAGE}\n`);
  if (!wish) process.exitCode = 2;
} catch (error) {
  const isPeerMissing = error instanceof PeerNotAvailable;
  process.stderr.write(isPeerMissing ? `peer not available: ${error.message}\n` : `${explain(error)}\n`);
  process.exitCode = isPeerMissing ? 3 : 1;
}
