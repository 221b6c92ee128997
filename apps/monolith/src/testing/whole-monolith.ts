import { loadConfig } from '#platform/config/load-config';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Abstract, Type } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { monolithConfig, type MonolithConfig } from '../config.ts';
import { createMonolith } from '../monolith.ts';
import { openResources, type Resources } from '../resources.ts';
import { callerOf, type Caller } from './test-app.ts';

/** The whole monolith as `main` builds it. It does not listen, and no periodic task runs: a test calls the tasks step by step. */
export interface WholeMonolith {
  readonly app: NestFastifyApplication;
  readonly call: Caller;
  readonly dataSource: DataSource;
  readonly resources: Resources;
  readonly config: MonolithConfig;
  get<T>(token: Type<T> | Abstract<T>): T;
  /** The value of a metric, summed over its labels. */
  metric(name: string): Promise<number>;
  close(): Promise<void>;
}

type Settings = { DATABASE_URL: string; REDIS_URL: string } & Record<string, string>;

/** Opens the whole monolith on the test's database and Redis, without limits by fan or address unless the settings have some. */
export async function openMonolith(settings: Settings): Promise<WholeMonolith> {
  const config = loadConfig(monolithConfig, {
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    RATE_LIMIT_USER_PER_MINUTE: '0',
    RATE_LIMIT_WRITES_PER_MINUTE: '0',
    RATE_LIMIT_IP_PER_MINUTE: '0',
    ...settings,
  });
  const resources = await openResources(config, 'monolith');
  const app = await createMonolith(resources, { backgroundWork: false });
  await app.getHttpAdapter().getInstance().ready();
  return {
    app,
    call: callerOf(app),
    dataSource: resources.dataSource,
    resources,
    config,
    get: (token) => app.get(token, { strict: false }),
    async metric(name) {
      const found = await resources.metrics.registry.getSingleMetric(name)?.get();
      return (found?.values ?? []).reduce((sum, { value }) => sum + value, 0);
    },
    close: () => app.close(),
  };
}

const HOUR_MS = 3_600_000;
/** The options of a test's call that make an operator its caller. */
export const ops = { as: '0190a000-0000-7000-8000-00000000000a', headers: { 'x-mock-roles': 'ops' } };

/** A sector of a match that `putOnSale` created. */
export interface SectorOnSale {
  readonly id: string;
  readonly name: string;
  readonly capacity: number;
}

/** A match that `putOnSale` created. */
export interface MatchOnSale {
  readonly id: string;
  readonly sectors: readonly SectorOnSale[];
}

/** Creates a match through the operators' API. Its sale is open, because `opens_at` is an hour ago. */
export async function putOnSale(monolith: WholeMonolith, facts: Record<string, unknown> = {}): Promise<MatchOnSale> {
  const body = {
    home: 'Hrvatska',
    away: 'Italija',
    venue: 'Maksimir',
    kickoff_at: new Date(Date.now() + 48 * HOUR_MS).toISOString(),
    currency: 'EUR',
    max_tickets_per_fan: 4,
    queue_required: false,
    opens_at: new Date(Date.now() - HOUR_MS).toISOString(),
    sectors: [seated('East A')],
    ...facts,
  };
  const answer = await monolith.call('POST', '/api/v1/ops/matches', { ...ops, body });
  if (answer.status !== 201) throw new Error(`the match was not created: ${answer.text}`);
  return answer.json as MatchOnSale;
}

/** A seated sector, in the format of the operators' API. */
export function seated(name: string, rows = 5, seatsPerRow = 10): Record<string, unknown> {
  return { name, kind: 'seated', price_cents: 2500, rows, seats_per_row: seatsPerRow };
}

/** Stores a turn in PostgreSQL, as the monolith does after the waiting room's event. Returns its session token. */
export async function grantTurn(monolith: WholeMonolith, matchId: string, userId: string, seconds = 1200): Promise<string> {
  const token = `st_${randomUUID()}`;
  await monolith.dataSource.query(
    `insert into purchase_windows (session_token, match_id, user_id, expires_at) values ($1, $2, $3, now() + make_interval(secs => $4))`,
    [token, matchId, userId, seconds],
  );
  return token;
}
