import { Redis } from 'ioredis';
import { cpuDifference, readCpu, type CpuMeter } from '../instruments/cpu.ts';
import type { OwnServers } from '../instruments/own-servers.ts';
import { quantile } from '../instruments/quantiles.ts';
import { startMonolith, type RunningService } from '../instruments/service.ts';
import { readAvailability, type AvailabilityTimes } from './availability.ts';
import { Buyers } from './buyers.ts';
import { openingTimes, scheduleSale, SECONDS_FROM_OPENING, waitForOpening, type OpeningTimes } from './opening.ts';
import type { Scenario } from './scenarios.ts';
import { SETTINGS, type ServerUrls } from './settings.ts';
import type { MatchToSell, Stadium, Stadiums } from './stadiums.ts';
import { faultsIn, reservationsIn } from './tables.ts';
import type { BuyerResult } from './worker.ts';

/** The result of one run of one scenario. */
export interface RunResult {
  readonly scenario: string;
  readonly perSecond: number;
  readonly seconds: number;
  readonly done: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly retries: number;
  readonly refusals: Readonly<Record<string, number>>;
  /** Number of 503 answers among the refusals. */
  readonly busy: number;
  /** Microseconds of processor time per reservation or purchase; NaN if there is no /proc. */
  readonly cpu: { readonly service: number; readonly database: number; readonly redis: number; readonly load: number };
  /** All seats for sale were sold before the end of the run. */
  readonly ranOut: boolean;
  readonly faults: readonly string[];
  readonly availability?: AvailabilityTimes;
  readonly opening?: OpeningTimes;
}

/** The servers and the prepared matches that all runs share. */
export interface PurchaseSetup {
  readonly servers: OwnServers;
  readonly stadiums: Stadiums;
}

/** Duration of the warm-up, in which V8 compiles the code: during the first 40,000 holds over HTTP the cost of a hold falls by a tenth. */
const warmUpSeconds = (seconds: number): number => Math.max(1, seconds);

/** Runs one scenario once, with a fresh copy of its stadium, an empty Redis and new processes. */
export async function runOnce(setup: PurchaseSetup, scenario: Scenario, stadium: Stadium, seconds: number): Promise<RunResult> {
  const { servers, stadiums } = setup;
  const copy = await stadiums.copyOf(stadium);
  const serverUrls = { databaseUrl: copy.url, redisUrl: servers.redisUrl };
  await emptyRedis(servers.redisUrl);
  const teams: Buyers[] = [];
  let service: RunningService | undefined;
  const matches = stadium.matches.slice(0, scenario.matches);
  try {
    const opensAt = scenario.atOpening ? await scheduleSale(copy.url, matches[0]!.id) : undefined;
    if (scenario.kind.endsWith('HTTP'))
      service = await startMonolith({ ...SETTINGS, DATABASE_URL: copy.url, REDIS_URL: servers.redisUrl });
    const before = await reservationsIn(copy.url);
    for (let number = 1; number <= scenario.processes; number += 1)
      teams.push(await openTeam(scenario, serverUrls, matches, service));
    const warmUpCounts = opensAt ? [] : await Promise.all(teams.map((team) => team.warmUp(warmUpSeconds(seconds))));
    const meter = meterOf(servers, teams, service);
    if (opensAt) await waitForOpening(opensAt);
    const forSale = { matches, warmUpMatches: warmUpOf(scenario, matches) };
    const sale = await sell(teams, forSale, opensAt ? SECONDS_FROM_OPENING : seconds, meter);
    const opening = opensAt && openingTimes(sale);
    const availability =
      scenario.name === 'http-256' && service ? await readAvailability(service.url, matches.at(-1)!) : undefined;
    await Promise.all(teams.map((team) => team.close()));
    const bought = [...warmUpCounts, sale.summary.done].reduce((sum, count) => sum + count, 0);
    const faults = await faultsIn(serverUrls, { before, bought, whole: scenario.kind === 'purchases over HTTP' });
    return {
      scenario: scenario.name,
      ...sale.summary,
      faults,
      ...(availability ? { availability } : {}),
      ...(opening ? { opening } : {}),
    };
  } finally {
    await Promise.allSettled(teams.map((team) => team.close()));
    await service?.stop();
    await copy.drop();
  }
}

/** Number of matches in which the buyers warm up. At least one match is left for the measurement. */
function warmUpOf({ warmUpMatches = 1 }: Scenario, matches: readonly MatchToSell[]): number {
  return Math.min(warmUpMatches, matches.length - 1);
}

function openTeam(
  scenario: Scenario,
  serverUrls: ServerUrls,
  matches: readonly MatchToSell[],
  service?: RunningService,
): Promise<Buyers> {
  const address = { ...serverUrls, serviceUrl: service?.url, callers: scenario.callers };
  const { kind, processes } = scenario;
  const warmUpMatches = warmUpOf(scenario, matches);
  return Buyers.open({ kind, address, matches, processes, warmUpMatches });
}

/** Chooses the processes to measure. Buyers over HTTP count as `load`; buyers in the process of the use case count as `service`. */
function meterOf({ pids }: OwnServers, teams: readonly Buyers[], service?: RunningService): CpuMeter {
  const buyers = teams.map(({ pid }) => pid);
  return { ...pids, service: service ? [service.pid] : buyers, load: service ? buyers : [] };
}

interface ForSale {
  readonly matches: readonly MatchToSell[];
  readonly warmUpMatches: number;
}

async function sell(teams: readonly Buyers[], { matches, warmUpMatches }: ForSale, seconds: number, meter: CpuMeter) {
  // All processes of buyers (`teams`) switch to the next match at the same time: when the quota of the match is sold.
  let [current, sold] = [warmUpMatches, 0];
  const onProgress = (bought: number): void => {
    sold += bought;
    if (sold < (matches[current]?.quota ?? Infinity)) return;
    current += 1;
    sold = 0;
    for (const team of teams) team.switchToMatch(current);
  };
  const before = readCpu(meter);
  const bought = await Promise.all(teams.map((team) => team.buy(seconds, onProgress)));
  const cpu = cpuDifference(before, readCpu(meter));
  const timesOf = (name: 'startsMs' | 'latenciesMs') => Float64Array.from(bought.flatMap((team) => [...team[name]]));
  const summary = summarise(bought, cpu, current >= matches.length);
  return { summary, startsMs: timesOf('startsMs'), latenciesMs: timesOf('latenciesMs') };
}

function summarise(teams: readonly BuyerResult[], cpu: ReturnType<typeof cpuDifference>, ranOut: boolean) {
  const total = (value: (team: BuyerResult) => number): number => teams.reduce((sum, team) => sum + value(team), 0);
  const latencies = Float64Array.from(teams.flatMap(({ latenciesMs }) => [...latenciesMs])).sort();
  const refusals: Record<string, number> = {};
  for (const team of teams)
    for (const [refusal, count] of Object.entries(team.refusals)) refusals[refusal] = (refusals[refusal] ?? 0) + count;
  const done = total((team) => team.done);
  return {
    perSecond: total(({ doneInTime, seconds }) => doneInTime / seconds),
    seconds: total(({ seconds }) => seconds) / teams.length,
    done,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    retries: total(({ retries }) => retries),
    refusals,
    busy: Object.entries(refusals).reduce((sum, [refusal, count]) => (refusal.startsWith('503 ') ? sum + count : sum), 0),
    cpu: { service: cpu.service / done, database: cpu.database / done, redis: cpu.redis / done, load: cpu.load / done },
    ranOut,
  };
}

async function emptyRedis(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  await redis.quit();
}
