// The matches that are sold: laid out once by the use case that operators call, then copied for every run, so that each run
// begins with the same rows in the same places.
import pg from 'pg';
import type { CreateMatch } from '../../apps/monolith/src/operations/application/create-match.ts';
import { compiled, MONOLITH } from '../instruments/compiled.ts';
import { presell, PRESOLD } from './presale.ts';
import { monolithConfig, type ServerUrls } from './settings.ts';

const SECTORS = 20;
const SEATS_PER_ROW = 50;
/** Then the buyers go on to the next match; the presold ones go to the end, when the first sectors have nothing left. */
const SOLD_TO = { fresh: 0.8, presold: 0.95 };

export interface MatchToSell {
  readonly id: string;
  readonly sectorIds: readonly string[];
  /** Reservations of two seats after which the next match has its turn. */
  readonly quota: number;
}

export type StadiumName = 'fresh' | 'doubled' | 'nearly sold';

/** The first match of each is for warming up. */
export interface Stadium {
  readonly database: string;
  readonly seatsPerSector: number;
  readonly matches: readonly MatchToSell[];
}

export class Stadiums {
  readonly #admin: pg.Client;
  readonly #place: ServerUrls;
  #runs = 0;

  private constructor(admin: pg.Client, place: ServerUrls) {
    this.#admin = admin;
    this.#place = place;
  }

  static async open(place: ServerUrls): Promise<Stadiums> {
    const admin = new pg.Client({ connectionString: place.databaseUrl });
    await admin.connect();
    return new Stadiums(admin, place);
  }

  async build(database: string, count: number, seatsPerSector: number): Promise<Stadium> {
    await this.#admin.query(`create database ${database}`);
    const url = this.#urlOf(database);
    const matches = await layOut({ ...this.#place, databaseUrl: url }, count, seatsPerSector);
    await settle(url);
    const quota = (SECTORS * seatsPerSector * SOLD_TO.fresh) / 2;
    return { database, seatsPerSector, matches: matches.map((match) => ({ ...match, quota })) };
  }

  /** The same, with four fifths gone. */
  async presold(database: string, { database: from, seatsPerSector, matches }: Stadium): Promise<Stadium> {
    await this.#admin.query(`create database ${database} template ${from} strategy file_copy`);
    const url = this.#urlOf(database);
    await withClient(url, async (client) => {
      for (const { id } of matches) await presell(client, id, seatsPerSector);
    });
    await settle(url);
    const quota = Math.floor((SECTORS * seatsPerSector * (SOLD_TO.presold - PRESOLD)) / 2);
    return { database, seatsPerSector, matches: matches.map((match) => ({ ...match, quota })) };
  }

  /** A copy of the files, after a checkpoint: PostgreSQL's own way, and the same beginning for every run. */
  async copyOf({ database }: Stadium): Promise<{ url: string; drop(): Promise<void> }> {
    this.#runs += 1;
    const copy = `run_${this.#runs}`;
    await this.#admin.query(`create database ${copy} template ${database} strategy file_copy`);
    return { url: this.#urlOf(copy), drop: async () => void (await this.#admin.query(`drop database ${copy} with (force)`)) };
  }

  /** Before pgbench too, so that all of them begin with an empty log. */
  async checkpoint(): Promise<void> {
    await this.#admin.query('checkpoint');
  }

  async close(): Promise<void> {
    await this.#admin.end();
  }

  #urlOf(database: string): string {
    const url = new URL(this.#place.databaseUrl);
    url.pathname = `/${database}`;
    return url.href;
  }
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** As after `pgbench -i`: nothing is left for autovacuum to do in the middle of a run. */
async function settle(url: string): Promise<void> {
  await withClient(url, (client) => client.query('vacuum (analyze)'));
}

async function layOut(place: ServerUrls, count: number, seatsPerSector: number): Promise<Omit<MatchToSell, 'quota'>[]> {
  const { migrate } = await compiled<typeof import('../../libs/platform/src/postgres/migrate.ts')>(
    'libs/platform/src/postgres/migrate',
  );
  await migrate(place.databaseUrl);
  const { CreateMatch } = await compiled<typeof import('../../apps/monolith/src/operations/application/create-match.ts')>(
    `${MONOLITH}/operations/application/create-match`,
  );
  const { withMonolithContext } = await compiled<typeof import('../../apps/monolith/src/cli/monolith-context.ts')>(
    `${MONOLITH}/cli/monolith-context`,
  );
  return withMonolithContext(await monolithConfig(place), async (context) => {
    const createMatch = context.get(CreateMatch, { strict: false });
    const matches = [];
    for (let number = 1; number <= count; number += 1) {
      const { match, sectors } = await createMatch.execute(matchNumber(number, seatsPerSector));
      matches.push({ id: match.id, sectorIds: sectors.map(({ id }) => id) });
    }
    return matches;
  });
}

function matchNumber(number: number, seatsPerSector: number): Parameters<CreateMatch['execute']>[0] {
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
      priceCents: 2500,
      plan: { kind: 'seated', rows: seatsPerSector / SEATS_PER_ROW, seatsPerRow: SEATS_PER_ROW },
    })),
  };
}
