// The environment of bench:quotas: its own PostgreSQL and Redis, matches of 120,000 places, and one monolith from dist.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { OwnServers } from '../instruments/own-servers.ts';
import { startMonolith, type RunningService } from '../instruments/service.ts';
import { SETTINGS } from '../purchase/settings.ts';
import { Stadiums, type MatchToSell } from '../purchase/stadiums.ts';

/** The most places that a match can have. The public sells about 10,000 a second, and a measurement must not run out of them. */
export const PLACES_PER_SECTOR = 6000;

const OPERATOR = '0190a000-0000-7000-8000-00000000000a';

/** What all measurements use. */
export interface QuotaSetup {
  readonly servers: OwnServers;
  readonly databaseUrl: string;
  readonly database: pg.Client;
  readonly service: RunningService;
  /** A match that no measurement has used yet. */
  nextMatch(): MatchToSell;
  stop(): Promise<void>;
}

/** Starts the servers, lays out `matches` matches, and starts the monolith. */
export async function openSetup(servers: OwnServers, matches: number): Promise<QuotaSetup> {
  const stadiums = await Stadiums.open(servers);
  const stadium = await stadiums.build('quotas', matches, PLACES_PER_SECTOR);
  await stadiums.close();
  const url = new URL(servers.databaseUrl);
  url.pathname = `/${stadium.database}`;
  const database = new pg.Client({ connectionString: url.href });
  await database.connect();
  const service = await startMonolith({ ...SETTINGS, DATABASE_URL: url.href, REDIS_URL: servers.redisUrl });
  const unused = [...stadium.matches];
  return {
    servers,
    databaseUrl: url.href,
    database,
    service,
    nextMatch: () => {
      const match = unused.pop();
      if (!match) throw new Error('the benchmark has laid out too few matches');
      return match;
    },
    stop: async () => {
      await service.stop();
      await database.end();
    },
  };
}

/** Sends a POST of an operator and returns the answer. Throws if it is refused. */
export async function postAsOperator<T>({ service }: QuotaSetup, path: string, body: unknown): Promise<T> {
  const answer = await fetch(`${service.url}/api/v1${path}`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'x-mock-user-id': OPERATOR, 'x-mock-roles': 'ops' },
      'idempotency-key': randomUUID().replaceAll('-', ''),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
}

/** Creates a quota with these places of the public, and returns its id. */
export async function createQuota(
  setup: QuotaSetup,
  match: MatchToSell,
  places: readonly object[],
  fields: object = {},
): Promise<string> {
  const body = { name: 'Navijači', kind: 'fan_group', places, ...fields };
  return (await postAsOperator<{ id: string }>(setup, `/ops/matches/${match.id}/quotas`, body)).id;
}
