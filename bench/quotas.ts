// `npm run bench:quotas`: invitations, claims, returns and moves of quotas, compared with pgbench and COPY on the same server. Prints a
// table and writes bench/results. Exits with 1 if the tables are wrong, a measurement failed or, with --gate, a figure is below its
// floor; with 3 if there is no pgbench to compare with.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from '../tools/local/build.ts';
import { describeMachine } from './instruments/machine.ts';
import { startOwnServers } from './instruments/own-servers.ts';
import { writeFiles } from './instruments/results.ts';
import { runBenchmark } from './instruments/run-benchmark.ts';
import { mean } from './instruments/quantiles.ts';
import { findBrokenInvariants } from './instruments/verified.ts';
import { figures, figureTable, meetsFloor, short, type Figure } from './quotas/figures.ts';
import { claimInvitations, copiedPerSecond, issueInvitations, type RateResult } from './quotas/invitations.ts';
import { movePlaces } from './quotas/moves.ts';
import { returnQuotas } from './quotas/returns.ts';
import { RunningSale } from './quotas/running-sale.ts';
import { openSetup, type QuotaSetup } from './quotas/setup.ts';
import { pgbenchBinary } from './yardsticks/pgbench-binary.ts';
import { preparePgbench, runPgbench } from './yardsticks/pgbench.ts';

const USAGE = `npm run bench:quotas -- [--quick] [--rounds 3] [--gate] [--no-build] [--name <word>]
  --quick     one round with fewer invitations, about a minute
  --gate      exit with 1 if a figure is below its floor
  --no-build  measure the existing dist`;

/** Each round uses a match for invitations and claims, one for moves and one for returns. One more is for warming up. */
const MATCHES_A_ROUND = 3;
const FULL = { lists: 24, quietMs: 2000, pgbenchSeconds: 4 };
const QUICK = { lists: 8, quietMs: 1000, pgbenchSeconds: 2 };
type Scale = typeof FULL;

const startedAt = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

function record(figure: Figure, value: number, detail: string): void {
  figure.values.push(value);
  figure.detail = detail;
  say(`${figure.what}: ${short(value)} ${figure.unit} (${detail})`);
}

const inFull = ({ perSecond, p99Ms, cpuMicros: { service, database }, refusals }: RateResult): string =>
  `${short(perSecond)}/s, p99 ${short(p99Ms)} ms, CPU µs service ${short(service)}, database ${short(database)}${listed(refusals)}`;
const listed = (refusals: Readonly<Record<string, number>>): string =>
  Object.entries(refusals)
    .map(([code, count]) => `, ${count} × ${code}`)
    .join('');

/** Runs each measurement once, pgbench at both ends. Returns what was refused that should not be. */
async function measureRound(
  setup: QuotaSetup,
  sale: RunningSale,
  scale: Scale,
  pgbench: () => Promise<number>,
): Promise<string[]> {
  const before = await pgbench();
  const issued = await issueInvitations(setup, scale.lists);
  const copied = await copiedPerSecond(setup);
  const claimed = await claimInvitations(setup, issued.match);
  const moved = await movePlaces(setup, sale);
  const returned = await returnQuotas(setup, sale, scale.quietMs);
  const yardstick = mean([before, await pgbench()]);
  record(figures.issued, issued.perSecond / yardstick, inFull(issued));
  record(figures.issuedToCopy, issued.perSecond / copied, `COPY ${short(copied)} rows/s`);
  record(figures.claimed, claimed.perSecond / yardstick, inFull(claimed));
  const buyers = `${short(moved.perSecond)} holds/s${listed(moved.refusals)}`;
  record(figures.toQuota, moved.seconds['to another quota'], buyers);
  record(figures.toPublic, moved.seconds['to the public'], buyers);
  record(figures.fromPublic, moved.seconds['from the public'], buyers);
  record(figures.lockTimeouts, moved.refusals['503 LOCK_TIMEOUT'] ?? 0, buyers);
  record(figures.returned, returned.seconds, `the task runs every second; the returns took ${short(returned.returnSeconds)} s`);
  record(
    figures.buyersAtReturn,
    returned.p99Ms / returned.quietP99Ms,
    `${short(returned.p99Ms)} ms, before ${short(returned.quietP99Ms)} ms${listed(returned.refusals)}`,
  );
  return [issued, claimed].flatMap(({ refusals }) =>
    Object.entries(refusals).map(([code, count]) => `refused: ${count} × ${code}`),
  );
}

interface Options extends Scale {
  readonly rounds: number;
  readonly gate: boolean;
  readonly build: boolean;
  readonly name: string;
}

async function main(options: Options): Promise<number> {
  const binary = pgbenchBinary(say);
  if (options.build) await build({ say, serverOnly: true });
  const [machine, servers] = [describeMachine(), await startOwnServers()];
  const faults: string[] = [];
  try {
    const meter = { service: [], load: [], ...servers.pids };
    const bench = { binary, databaseUrl: servers.databaseUrl, meter };
    await preparePgbench(bench);
    const pgbench = async (): Promise<number> => (await runPgbench(bench, options.pgbenchSeconds)).perSecond;
    say('laying out the matches');
    const setup = await openSetup(servers, options.rounds * MATCHES_A_ROUND + 1);
    const sale = await RunningSale.open(setup);
    await sale.during(setup.nextMatch(), () => sleep(options.quietMs));
    for (let round = 0; round < options.rounds; round += 1) faults.push(...(await measureRound(setup, sale, options, pgbench)));
    await sale.close();
    await setup.stop();
    faults.push(...(await findBrokenInvariants({ databaseUrl: setup.databaseUrl, redisUrl: servers.redisUrl })));
  } finally {
    await servers.stop();
  }
  const report = [
    `# Quotas benchmark, ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `Commit ${machine.commit}. ${machine.cores} × ${machine.processor}, ${machine.memoryGib} GiB, ${machine.platform}, Node ${machine.node}. ` +
      `${options.rounds} round${options.rounds === 1 ? '' : 's'}, medians; load average before ${machine.loadBefore.toFixed(1)}. Rate limits are off. ` +
      'Matches of 120,000 places in 20 sectors; the sale is 64 buyers over HTTP, two places each, one hold after the other. Buyers, ' +
      'partners, monolith, PostgreSQL and Redis share the machine.',
    '',
    figureTable(Object.values(figures)),
    '',
    ...(faults.length > 0 ? faults.map((fault) => `BROKEN ${fault}`) : ['The tables are right: `verify` finds nothing.']),
    '',
  ].join('\n');
  process.stdout.write(report);
  writeFiles({ at: new Date(), benchmark: 'quotas', name: options.name, report, data: { machine, figures, faults } });
  const isBelow = options.gate && Object.values(figures).some((figure) => !meetsFloor(figure));
  return isBelow || faults.length > 0 ? 1 : 0;
}

function readOptions(): Options | undefined {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      ...{ rounds: { type: 'string' }, name: { type: 'string', default: '' } },
      ...{ quick: flag, gate: flag, help: flag, build: { ...flag, default: true } },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
  if (values.help || !(rounds > 0 && rounds <= 10) || !/^[a-z-]*$/.test(values.name)) return undefined;
  const { gate, build: shouldBuild, name } = values;
  return { ...(values.quick ? QUICK : FULL), rounds, gate, build: shouldBuild, name };
}

await runBenchmark({ usage: USAGE, readOptions, main });
