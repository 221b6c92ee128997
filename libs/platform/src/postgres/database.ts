import type { Socket } from 'node:net';
import { DataSource, type EntitySchema, type Logger as OrmLogger, type QueryRunner } from 'typeorm';
import type { Logger } from '../logging/logger.ts';
import type { PreparedStatement } from './named-sql.ts';

/** Connections of a pool. 24 keep 2 cores busy; more only slow PostgreSQL down under contention (research/limits.md §2). */
const POOL_SIZE = 24;
/** How long a caller waits for a connection, at most. */
const POOL_TIMEOUT_MS = 2000;
/**
 * A connection without traffic for this time is closed. The time is longer than any statement may take (a request has 55 s).
 * Without this timeout a caller could wait a quarter of an hour for an error when the network drops all packets.
 */
const SOCKET_TIMEOUT_MS = 65_000;

/** Logs only the error of a failed query. TypeORM's own logger also prints the query's parameters, which are personal data. */
const quietOrmLogger = (logger: Logger | undefined): OrmLogger => ({
  logQuery: () => undefined,
  logQueryError: (error) => logger?.debug({ err: error instanceof Error ? error.message : error }, 'query failed'),
  logQuerySlow: (time) => logger?.warn({ time_ms: time }, 'slow query'),
  logSchemaBuild: () => undefined,
  logMigration: (message) => logger?.info(message),
  log: (level, message) => level === 'warn' && logger?.warn(String(message)),
});

/** Opens a pool of connections to PostgreSQL. `name` is the process's name, which PostgreSQL shows as `application_name`. */
export async function openDatabase(options: {
  url: string;
  name: string;
  entities?: readonly EntitySchema[];
  logger?: Logger;
  poolSize?: number;
  /** Settings of every connection, such as `statement_timeout=1000`. A space in a value is written `\\ `. */
  settings?: readonly string[];
  /** How long a caller waits for a connection. */
  poolTimeoutMs?: number;
  /** A connection without traffic for this time is closed. */
  socketTimeoutMs?: number;
}): Promise<DataSource> {
  const { settings = [], poolTimeoutMs = POOL_TIMEOUT_MS, socketTimeoutMs = SOCKET_TIMEOUT_MS } = options;
  const dataSource = new DataSource({
    type: 'postgres',
    url: options.url,
    applicationName: `tribina-${options.name}`,
    entities: [...(options.entities ?? [])],
    poolSize: options.poolSize ?? POOL_SIZE,
    installExtensions: false,
    invalidWhereValuesBehavior: { null: 'throw', undefined: 'throw' },
    logger: quietOrmLogger(options.logger),
    // Pipelining: statements that are sent without awaiting the previous answer share one round trip.
    extra: {
      pipeline: true,
      connectionTimeoutMillis: poolTimeoutMs,
      keepAlive: true,
      onConnect: (client: DriverClient) =>
        void client.connection.stream.setTimeout(socketTimeoutMs, () => breakConnection(client)),
      ...(settings.length > 0 ? { options: settings.map((setting) => `-c ${setting}`).join(' ') } : {}),
    },
  });
  await dataSource.initialize();
  return dataSource;
}

/** The pg client under TypeORM's query runner. A text with several statements returns an array of results. */
export interface DriverClient {
  query<R = { readonly command: string }>(statement: string | PreparedStatement): Promise<R>;
  readonly connection: { readonly stream: Socket };
}

/**
 * The name of each statement that is a plain text. The map does not grow without limit: every text is a constant in our sources.
 */
const statementNames = new Map<string, string>();

/**
 * Returns the statement with a name, so that PostgreSQL plans it only once per connection. Planning a batch of 16 checkouts takes
 * a quarter of a millisecond, as long as running it. A statement of `namedSql` already has a name; a plain text gets one.
 */
export function prepared(sql: string | PreparedStatement, values: readonly unknown[] = []): PreparedStatement {
  if (typeof sql !== 'string') return sql;
  const name = statementNames.get(sql) ?? `s${statementNames.size + 1}`;
  statementNames.set(sql, name);
  return { name, text: sql, values: values as unknown[] };
}

/** Runs the statement in a transaction of its own. It is not prepared: PostgreSQL plans it anew, for these values. */
export function runUnprepared<T>(dataSource: DataSource, { text, values }: PreparedStatement): Promise<T> {
  return dataSource.query<T>(text, values);
}

/** The pg client of TypeORM's query runner. It is the runner's until the runner is released. */
export async function driverClientOf(runner: QueryRunner): Promise<DriverClient> {
  return (await runner.connect()) as DriverClient;
}

/** Destroys the socket: all pending queries on this connection fail at once, and the pool opens a new connection. */
export function breakConnection(client: DriverClient): void {
  client.connection.stream.destroy();
}

/** Throws when PostgreSQL does not answer. For the readiness check: one statement on one connection of the pool. */
export async function pingDatabase(dataSource: DataSource): Promise<void> {
  await dataSource.query('select 1');
}
