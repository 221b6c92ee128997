// `npm run bench:whole`: whole purchases per second of the started system with all its services, compared with pgbench on the same
// PostgreSQL, with the notification worker running, paused and absent. Prints a table and writes bench/results. Exits with 1 if the
// tables or the mails are wrong, a scenario failed or, with --gate, a figure is below its floor; with 3 if there is no pgbench.
import { parseArgs } from 'node:util';
import { build } from '../tools/local/build.ts';
import { describeMachine } from './instruments/machine.ts';
import { type OwnServers, startOwnServers } from './instruments/own-servers.ts';
import { runBenchmark } from './instruments/run-benchmark.ts';
import { Stadiums } from './purchase/stadiums.ts';
import { figuresOf, type WholeRound } from './whole/figures.ts';
import { measureMailCosts } from './whole/mail-cost.ts';
import { MailServer } from './whole/mail-server.ts';
import { renderReport, type WholeResult, writeResults } from './whole/report.ts';
import { runWhole, type WholeRun, type WholeScenario, type WholeSetup } from './whole/run.ts';
import { type WorkerMode, workerModes } from './whole/system.ts';
import { pgbenchBinary } from './yardsticks/pgbench-binary.ts';
import { type Pgbench, preparePgbench, runPgbench } from './yardsticks/pgbench.ts';

const USAGE = `npm run bench:whole -- [--quick] [--seconds 4] [--rounds 3] [--buyers 64,128,256] [--worker ${workerModes.join(',')}] [--mails] [--gate] [--no-build] [--name <word>] [--note <text>]
  --quick     one short round with 128 buyers, the worker absent and running; about a minute and a half
  --buyers    only these numbers of buyers
  --worker    only these modes of the worker
  --mails     only the cost of a mail by part
  --gate      exit with 1 if a figure is below its floor
  --no-build  measure the existing dist
  --name      part of the result's file name, as in 2026-11-20-whole-<name>.md
  --note      a sentence for the top of the report`;

/** Matches of 40,000 seats: one for warming up, and one that no run can sell. */
const MATCHES = 2;

const startedAt = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly scenarios: readonly WholeScenario[];
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
      ...{ seconds: text, rounds: text, buyers: text, worker: text, name: text, note: text },
      ...{ quick: flag, mails: flag, gate: flag, help: flag, build: { ...flag, default: true } },
    },
  });
  const { quick, gate, build: shouldBuild, name, note } = values;
  const [seconds, rounds] = [Number(values.seconds ?? (quick ? 2.5 : 4)), Number(values.rounds ?? (quick ? 1 : 3))];
  const buyers = (values.buyers ?? (quick ? '128' : '64,128,256')).split(',').map(Number);
  const modes = (values.worker ?? (quick ? 'absent,running' : workerModes.join(','))).split(',');
  const isMode = (mode: string): mode is WorkerMode => (workerModes as readonly string[]).includes(mode);
  const areNumbers = [seconds, rounds, ...buyers].every((number) => number > 0);
  if (values.help || !areNumbers || !modes.every(isMode)) return undefined;
  const scenarios = buyers.flatMap((number) => modes.filter(isMode).map((mode) => ({ mode, buyers: number })));
  return { seconds, rounds: values.mails ? 0 : rounds, scenarios, gate, build: shouldBuild, name, note };
}

async function measureRound(options: Options, setup: WholeSetup, pgbench: Pgbench): Promise<WholeRound> {
  const yardstick = async () => {
    await setup.stadiums.checkpoint();
    const result = await runPgbench(pgbench, Math.ceil(options.seconds));
    say(`pgbench -N: ${result.perSecond.toFixed(0)}/s`);
    return result;
  };
  const before = await yardstick();
  const [runs, failures]: [WholeRun[], string[]] = [[], []];
  for (const scenario of options.scenarios) {
    const name = `${scenario.buyers} buyers, worker ${scenario.mode}`;
    try {
      const run = await runWhole(setup, scenario, options.seconds);
      runs.push(run);
      const drained = run.drain ? `, then ${run.drain.perSecond.toFixed(0)} mails/s` : '';
      const sold = `${run.perSecond.toFixed(0)} purchases/s, p99 ${run.p99Ms.toFixed(0)} ms, ${run.mailsPerSecond.toFixed(0)} mails/s`;
      say(`${name}: ${sold}${drained}${run.faults.map((fault) => `, ${fault}`).join('')}`);
    } catch (error) {
      failures.push(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
      say(failures.at(-1)!);
    }
  }
  return { pgbench: [before, await yardstick()], runs, failures };
}

async function measure(options: Options, servers: OwnServers, pgbench: Pgbench): Promise<WholeResult> {
  const [machine, at] = [describeMachine(), new Date()];
  say('preparing pgbench');
  await preparePgbench(pgbench);
  const [stadiums, mailServer] = [await Stadiums.open(servers), await MailServer.start()];
  try {
    say(`laying out ${MATCHES} matches of 40,000 seats`);
    const setup = { servers, stadiums, stadium: await stadiums.build('fresh', MATCHES, 2000), mailServer };
    const rounds: WholeRound[] = [];
    while (rounds.length < options.rounds) rounds.push(await measureRound(options, setup, pgbench));
    say('measuring the cost of a mail by part');
    const mailCosts = await measureMailCosts(setup, options.seconds);
    return { at, machine, seconds: options.seconds, note: options.note, rounds, mailCosts };
  } finally {
    mailServer.stop();
    await stadiums.close();
  }
}

async function main(options: Options): Promise<number> {
  const binary = pgbenchBinary(say);
  if (options.build) await build({ say, serverOnly: true });
  const servers = await startOwnServers();
  try {
    const meter = { service: [], load: [], ...servers.pids };
    const result = await measure(options, servers, { binary, databaseUrl: servers.databaseUrl, meter });
    process.stdout.write(renderReport(result));
    say(`written to ${writeResults(result, options.name)}`);
    const isBroken = result.rounds.some(
      ({ runs, failures }) => failures.length > 0 || runs.some(({ faults }) => faults.length > 0),
    );
    const isBelow = options.gate && figuresOf(result.rounds).some(({ meetsFloor }) => !meetsFloor);
    return isBroken || isBelow ? 1 : 0;
  } finally {
    await servers.stop();
  }
}

await runBenchmark({ usage: USAGE, readOptions, main });
