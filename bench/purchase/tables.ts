// The checks after every run: the purchases that the buyers counted are in the tables, and `verify` finds no broken invariant.
import { findBrokenInvariants } from '../instruments/verified.ts';
import type { ServerUrls } from './settings.ts';
import { withClient } from './stadiums.ts';

/** What the tables must contain after a run. */
export interface ExpectedSales {
  /** Number of reservations before the run. */
  readonly before: number;
  /** Number of successful purchases that the buyers counted. */
  readonly bought: number;
  readonly whole: boolean;
}

/** Returns the differences between the tables and `sold`, and the broken invariants. Empty if all is right. */
export async function faultsIn(serverUrls: ServerUrls, sold: ExpectedSales): Promise<string[]> {
  const faults = await withClient(serverUrls.databaseUrl, async (client) => {
    const count = async (sql: string): Promise<number> => Number((await client.query<{ count: string }>(sql)).rows[0]?.count);
    const stored = sold.whole
      ? await count(`select count(*) from orders where status = 'completed'`)
      : (await count(`select count(*) from reservations`)) - sold.before;
    const keys = await count(`select count(*) from idempotency_keys where status is not null`);
    return [
      ...(stored === sold.bought ? [] : [`the buyers counted ${sold.bought}, the tables contain ${stored}`]),
      ...(keys >= sold.bought ? [] : [`${sold.bought} bought, but only ${keys} idempotency keys`]),
    ];
  });
  return [...faults, ...(await findBrokenInvariants(serverUrls))];
}

/** Number of reservations in the database. */
export async function reservationsIn(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ count: string }>('select count(*) from reservations');
    return Number(rows[0]?.count);
  });
}
