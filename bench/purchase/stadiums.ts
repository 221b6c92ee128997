// Databases with matches to sell. The use case CreateMatch creates the matches once. Then each run gets a copy of the database files, so
// that all runs start with the same rows on the same pages.
import pg from 'pg';
import type { CreateMatch } from '../../apps/monolith/src/operations/create-match.ts';
import { importCompiled, MONOLITH } from '../instruments/compiled.ts';
import { presell, PRESOLD_SHARE } from './presale.ts';
import { monolithConfig, type ServerUrls } from './settings.ts';

const SECTORS = 20;
const SEATS_PER_ROW = 50;
/** Share of the seats for sale after which the buyers switch to the next match. It is higher for presold matches. */
const SWITCH_AT_SHARE = { fresh: 0.8, presold: 0.95 };

/** A match in which buyers buy during a run. */
export interface MatchToSell {
  readonly id: string;
  readonly sectorIds: readonly string[];
  /** Number of reservations of two seats after which the buyers switch to the next match. */
  readonly quota: number;
}

/** `fresh`: all seats free. `doubled`: twice as many seats. `nearly sold`: PRESOLD_SHARE of the seats are held. */
export type StadiumName = 'fresh' | 'doubled' | 'nearly sold';

/** A database with matches to sell. The first match is for warming up. */
export interface Stadium {
  readonly database: string;
  readonly seatsPerSector: number;
  readonly matches: readonly MatchToSell[];
}

/** Creates the databases with matches to sell, and a copy of one for each run. */
export class Stadiums {
  readonly #admin: pg.Client;
  readonly #serverUrls: ServerUrls;
  #runs = 0;

  private constructor(admin: pg.Client, serverUrls: ServerUrls) {
    this.#admin = admin;
    this.#serverUrls = serverUrls;
  }

  static async open(serverUrls: ServerUrls): Promise<Stadiums> {
    const admin = new pg.Client({ connectionString: serverUrls.databaseUrl });
    await admin.connect();
    return new Stadiums(admin, serverUrls);
  }

  async build(database: string, count: number, seatsPerSector: number): Promise<Stadium> {
    await this.#admin.query(`create database ${database}`);
    const url = this.urlOf(database);
    const matches = await layOut({ ...this.#serverUrls, databaseUrl: url }, count, seatsPerSector);
    await vacuum(url);
    const quota = (SECTORS * seatsPerSector * SWITCH_AT_SHARE.fresh) / 2;
    return { database, seatsPerSector, matches: matches.map((match) => ({ ...match, quota })) };
  }

  /** Creates a copy of a stadium in which PRESOLD_SHARE of the seats are held. */
  async presold(database: string, { database: from, seatsPerSector, matches }: Stadium): Promise<Stadium> {
    await this.#admin.query(`create database ${database} template ${from} strategy file_copy`);
    const url = this.urlOf(database);
    await withClient(url, async (client) => {
      for (const { id } of matches) await presell(client, id, seatsPerSector);
    });
    await vacuum(url);
    const quota = Math.floor((SECTORS * seatsPerSector * (SWITCH_AT_SHARE.presold - PRESOLD_SHARE)) / 2);
    return { database, seatsPerSector, matches: matches.map((match) => ({ ...match, quota })) };
  }

  /** Copies the database files (strategy file_copy, which makes a checkpoint first), so that every run starts with the same state. */
  async copyOf({ database }: Stadium): Promise<{ url: string; drop(): Promise<void> }> {
    this.#runs += 1;
    const copy = `run_${this.#runs}`;
    await this.#admin.query(`create database ${copy} template ${database} strategy file_copy`);
    return { url: this.urlOf(copy), drop: async () => void (await this.#admin.query(`drop database ${copy} with (force)`)) };
  }

  /** Makes a PostgreSQL checkpoint, so that the next run starts with an empty write-ahead log. */
  async checkpoint(): Promise<void> {
    await this.#admin.query('checkpoint');
  }

  async close(): Promise<void> {
    await this.#admin.end();
  }

  /** The URL of a database of this server. */
  urlOf(database: string): string {
    const url = new URL(this.#serverUrls.databaseUrl);
    url.pathname = `/${database}`;
    return url.href;
  }
}

/** Opens a database connection, runs `work` with it and closes it. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Vacuums the database, like `pgbench -i`, so that autovacuum has no work during a run. */
async function vacuum(url: string): Promise<void> {
  await withClient(url, (client) => client.query('vacuum (analyze)'));
}

async function layOut(serverUrls: ServerUrls, count: number, seatsPerSector: number): Promise<Omit<MatchToSell, 'quota'>[]> {
  const { migrate } = await importCompiled<typeof import('../../libs/platform/src/postgres/migrate.ts')>(
    'libs/platform/src/postgres/migrate',
  );
  await migrate(serverUrls.databaseUrl);
  const { CreateMatch } = await importCompiled<typeof import('../../apps/monolith/src/operations/create-match.ts')>(
    `${MONOLITH}/operations/create-match`,
  );
  const { withMonolithContext } = await importCompiled<typeof import('../../apps/monolith/src/cli/monolith-context.ts')>(
    `${MONOLITH}/cli/monolith-context`,
  );
  return withMonolithContext(await monolithConfig(serverUrls), async (context) => {
    const createMatch = context.get(CreateMatch, { strict: false });
    const matches = [];
    for (let number = 1; number <= count; number += 1) {
      const { match, sectors } = await createMatch.execute(matchCommand(number, seatsPerSector));
      matches.push({ id: match.id, sectorIds: sectors.map(({ id }) => id) });
    }
    return matches;
  });
}

function matchCommand(number: number, seatsPerSector: number): Parameters<CreateMatch['execute']>[0] {
  return {
    home: 'Hrvatska',
    away: `Guest ${number}`,
    venue: 'Bench',
    kickoffAt: new Date(Date.now() + 30 * 86_400_000),
    currency: 'EUR',
    maxTicketsPerFan: 4,
    queueRequired: false,
    opensAt: new Date(Date.now() - 60_000),
    processingRate: 600,
    maxOpenWindows: 1000,
    sectors: Array.from({ length: SECTORS }, (_, index) => ({
      name: `Sector ${index + 1}`,
      gate: null,
      wheelchair: false,
      priceCents: 2500,
      plan: { kind: 'seated', rows: seatsPerSector / SEATS_PER_ROW, seatsPerRow: SEATS_PER_ROW },
    })),
  };
}
