import type { Socket } from 'node:net';
import { DataSource, type EntitySchema, type Logger as OrmLogger, type QueryRunner } from 'typeorm';
import type { Logger } from '../logging/logger.ts';

/** 24 connections keep 2 cores busy; more of them only make contention slower (research/limits.md §2). */
const POOL_SIZE = 24;
const POOL_WAIT_MS = 2000;
/**
 * Longer than any statement may be silent (a request has 55 s). When a network swallows packets, nobody says that a
 * connection is dead: without this whoever waits on it waits a quarter of an hour.
 */
const SILENCE_LIMIT_MS = 65_000;

/** TypeORM's own logger prints parameters of failed queries, which are people's data; ours prints that they failed. */
class QuietOrmLogger implements OrmLogger {
  constructor(private readonly logger: Logger | undefined) {}
  logQuery(): void {}
  logQueryError(error: string | Error): void {
    this.logger?.debug({ err: error instanceof Error ? error.message : error }, 'query failed');
  }
  logQuerySlow(time: number): void {
    this.logger?.warn({ time_ms: time }, 'slow query');
  }
  logSchemaBuild(): void {}
  logMigration(message: string): void {
    this.logger?.info(message);
  }
  log(level: 'log' | 'info' | 'warn', message: unknown): void {
    if (level === 'warn') this.logger?.warn(String(message));
  }
}

export async function openDatabase(options: {
  url: string;
  name: string;
  entities?: readonly EntitySchema[];
  logger?: Logger;
  poolSize?: number;
}): Promise<DataSource> {
  const dataSource = new DataSource({
    type: 'postgres',
    url: options.url,
    applicationName: `tribina-${options.name}`,
    entities: [...(options.entities ?? [])],
    poolSize: options.poolSize ?? POOL_SIZE,
    installExtensions: false,
    invalidWhereValuesBehavior: { null: 'throw', undefined: 'throw' },
    logger: new QuietOrmLogger(options.logger),
    // Whoever does not wait for an answer before asking on gets both in one round trip; whoever waits notices nothing.
    extra: { pipeline: true, connectionTimeoutMillis: POOL_WAIT_MS, keepAlive: true, onConnect: limitSilence },
  });
  await dataSource.initialize();
  return dataSource;
}

/** The parts of pg's client that TypeORM does not pass on. A text of several statements has an array of results. */
export interface DriverClient {
  query<R = { readonly command: string }>(statement: string | PreparedStatement): Promise<R>;
  readonly connection: { readonly stream: Socket };
}

interface PreparedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** By their text; there are as many as stand in our sources. */
const statementNames = new Map<string, string>();

/** Planned once a connection: to plan a batch of 16 checkouts takes a quarter of a millisecond, as long as to run it. */
export function prepared(text: string, values: readonly unknown[]): PreparedStatement {
  const name = statementNames.get(text) ?? `s${statementNames.size + 1}`;
  statementNames.set(text, name);
  return { name, text, values };
}

export async function driverClientOf(runner: QueryRunner): Promise<DriverClient> {
  return (await runner.connect()) as DriverClient;
}

/** Whoever waits for an answer on this connection hears at once that it is gone; the pool makes a new one. */
export function breakConnection(client: DriverClient): void {
  client.connection.stream.destroy();
}

function limitSilence(client: DriverClient): void {
  client.connection.stream.setTimeout(SILENCE_LIMIT_MS, () => breakConnection(client));
}

/** Is the server there? For readiness: one statement on one connection of the pool. */
export async function pingDatabase(dataSource: DataSource): Promise<void> {
  await dataSource.query('select 1');
}
