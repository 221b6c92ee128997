import type { OwnServers } from '../instruments/own-servers.ts';
import { quantile } from '../instruments/quantiles.ts';
import { Buyers } from '../purchase/buyers.ts';
import { type Stadium, type Stadiums, withClient } from '../purchase/stadiums.ts';
import { StartedSystem } from '../whole/system.ts';
import { measureReads, type ReadLatency } from './latencies.ts';
import { addPastSales } from './past-sales.ts';
import type { HistorySize } from './history-size.ts';
import { allReads } from './reads.ts';

/** The first match is for warming up, each round sells one of the others. */
const MATCHES = 4;

/** Two databases on one server with the same matches to sell: one without and one with a history. */
export interface TwoDatabases {
  readonly stadium: Stadium;
  readonly without: string;
  readonly with: string;
  readonly historyGib: number;
}

/** One round: how many whole purchases a second each database had. */
export interface HistoryRound {
  readonly without: Sale;
  readonly with: Sale;
}

interface Sale {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly refusals: Readonly<Record<string, number>>;
}

export async function prepareDatabases(
  stadiums: Stadiums,
  size: HistorySize,
  say: (line: string) => void,
): Promise<TwoDatabases> {
  const stadium = await stadiums.build('without_history', MATCHES, 2000);
  const [without, copy] = [stadiums.urlOf(stadium.database), await stadiums.copyOf(stadium)];
  const historyGib = await withClient(copy.url, async (client) => {
    await addPastSales(client, size, say);
    await client.query('vacuum (analyze)');
    const { rows } = await client.query<{ gib: number }>('select (pg_database_size(current_database()) / 2 ^ 30)::float8 as gib');
    return rows[0]!.gib;
  });
  return { stadium, without, with: copy.url, historyGib };
}

/** Measures both databases, in another order in every second round. */
export async function measureRound(
  setup: { servers: OwnServers; stadiums: Stadiums; databases: TwoDatabases },
  { round, buyers, seconds }: { round: number; buyers: number; seconds: number },
): Promise<HistoryRound> {
  const { servers, stadiums, databases } = setup;
  const matches = [databases.stadium.matches[0]!, databases.stadium.matches[1 + (round % (MATCHES - 1))]!];
  const sellIn = async (databaseUrl: string): Promise<Sale> => {
    await stadiums.checkpoint();
    const system = await StartedSystem.start(servers, databaseUrl, 'absent');
    const address = { databaseUrl, redisUrl: servers.redisUrl, serviceUrl: system.monolith.url, callers: buyers };
    const team = await Buyers.open({ kind: 'purchases as a fan', address, matches, warmUpMatches: 1, processes: 1 });
    try {
      await team.warmUp(seconds);
      const { doneInTime, seconds: took, latenciesMs, refusals } = await team.buy(seconds, () => undefined);
      return { perSecond: doneInTime / took, p99Ms: quantile(latenciesMs.toSorted(), 0.99), refusals };
    } finally {
      await team.close();
      await system.stop();
    }
  };
  if (round % 2 === 0) {
    const without = await sellIn(databases.without);
    return { without, with: await sellIn(databases.with) };
  }
  const withHistory = await sellIn(databases.with);
  return { without: await sellIn(databases.without), with: withHistory };
}

/** The latency of each read of fans, operators and partners with the history, while nobody buys. */
export async function measureReadsWithHistory(servers: OwnServers, databases: TwoDatabases): Promise<ReadLatency[]> {
  const reads = await withClient(databases.with, (client) => allReads(client));
  const system = await StartedSystem.start(servers, databases.with, 'absent');
  try {
    return await measureReads(system.monolith.url, reads);
  } finally {
    await system.stop();
  }
}
