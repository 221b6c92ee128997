// The opening of a sale: all buyers send their first request when it opens, to a process that has served nothing before.
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../instruments/quantiles.ts';
import { withClient } from './stadiums.ts';

/** Time from the preparation of the database until the sale opens: the process starts and knows of the sale meanwhile, as it does in life. */
const OPENS_AFTER_MS = 12_000;
/** A request that arrives before `opens_at` is refused. The clocks are the same; this is for the rounding of the column. */
const GRACE_MS = 5;
/** How long the buyers buy: until the end of the tenth second, with which the first two are compared, and what was begun in it. */
export const SECONDS_FROM_OPENING = 10.5;

/** The p99 of the purchases that were begun in the first two seconds, and of those that were begun in the tenth. */
export interface OpeningTimes {
  readonly firstP99Ms: number;
  readonly tenthP99Ms: number;
}

/** The start of each purchase, counted from the opening, and how long it took. */
interface TimedPurchases {
  readonly startsMs: Float64Array;
  readonly latenciesMs: Float64Array;
}

/** Makes the sale of the match a scheduled one that opens soon. Returns when. */
export async function scheduleSale(databaseUrl: string, matchId: string): Promise<Date> {
  const opensAt = new Date(Date.now() + OPENS_AFTER_MS);
  await withClient(databaseUrl, (client) =>
    client.query(`update matches set sale_status = 'scheduled', opens_at = $2 where id = $1`, [matchId, opensAt]),
  );
  return opensAt;
}

/** Waits for the opening. Fails if it is too late to measure it. */
export async function waitForOpening(opensAt: Date): Promise<void> {
  const waitMs = opensAt.getTime() + GRACE_MS - Date.now();
  if (waitMs < 0) throw new Error('The process was not ready before the sale opened.');
  await sleep(waitMs);
}

/** Compares the first two seconds with the tenth. */
export function openingTimes({ startsMs, latenciesMs }: TimedPurchases): OpeningTimes {
  const p99 = (fromMs: number, toMs: number): number =>
    quantile(latenciesMs.filter((_, index) => startsMs[index]! >= fromMs && startsMs[index]! < toMs).sort(), 0.99);
  return { firstP99Ms: p99(0, 2000), tenthP99Ms: p99(9000, 10_000) };
}
