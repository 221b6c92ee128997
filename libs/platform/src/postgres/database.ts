import { DataSource, type EntitySchema, type Logger as OrmLogger } from 'typeorm';
import type { Logger } from '../logging/logger.ts';

/** 24 connections keep 2 cores busy; more of them only make contention slower (research/limits.md §2). */
const POOL_SIZE = 24;
const POOL_WAIT_MS = 2000;

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
    extra: { connectionTimeoutMillis: POOL_WAIT_MS, keepAlive: true },
  });
  await dataSource.initialize();
  return dataSource;
}

/** Is the server there? For readiness: one statement on one connection of the pool. */
export async function pingDatabase(dataSource: DataSource): Promise<void> {
  await dataSource.query('select 1');
}
