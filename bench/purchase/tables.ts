// After every run: what the buyers were told and what the tables say must be the same, and the operators' own proof must hold.
import { brokenIn } from '../instruments/verified.ts';
import type { ServerUrls } from './settings.ts';
import { withClient } from './stadiums.ts';

export interface Sold {
  /** Reservations that stood there before the run. */
  readonly before: number;
  /** What the buyers counted. */
  readonly bought: number;
  readonly whole: boolean;
}

export async function faultsIn(place: ServerUrls, sold: Sold): Promise<string[]> {
  const faults = await withClient(place.databaseUrl, async (client) => {
    const count = async (sql: string): Promise<number> => Number((await client.query<{ count: string }>(sql)).rows[0]?.count);
    const kept = sold.whole
      ? await count(`select count(*) from orders where status = 'completed'`)
      : (await count(`select count(*) from reservations`)) - sold.before;
    const keys = await count(`select count(*) from idempotency_keys where status is not null`);
    return [
      ...(kept === sold.bought ? [] : [`the buyers count ${sold.bought}, the tables ${kept}`]),
      ...(keys >= sold.bought ? [] : [`${sold.bought} bought, and only ${keys} idempotency keys`]),
    ];
  });
  return [...faults, ...(await brokenIn(place))];
}

export async function reservationsIn(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ count: string }>('select count(*) from reservations');
    return Number(rows[0]?.count);
  });
}
