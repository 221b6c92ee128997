import { startOnFreePort } from './free-port.ts';
import { type HomePaths, readPorts, rememberPorts } from './home.ts';
import { ProcessRestarter, type RestarterEvents } from './process-restarter.ts';
import type { LocalServer } from './local-server.ts';
import { type LocalPostgres, type PostgresOptions, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Settings } from './settings.ts';

/** The URLs of PostgreSQL and Redis, with the names of their settings. */
export interface DatabaseUrls {
  DATABASE_URL: string;
  /** The owner of the schema. Undefined if the settings have only DATABASE_URL. */
  DATABASE_MIGRATION_URL?: string;
  REDIS_URL: string;
}

type PostgresUrls = Omit<DatabaseUrls, 'REDIS_URL'>;

const urlsOfServer = ({ url, servicesUrl }: LocalPostgres): PostgresUrls => ({
  DATABASE_URL: servicesUrl,
  DATABASE_MIGRATION_URL: url,
});

const urlsOf = ({ databaseUrl = '', migrationUrl }: Settings): PostgresUrls => ({
  DATABASE_URL: databaseUrl,
  ...(migrationUrl ? { DATABASE_MIGRATION_URL: migrationUrl } : {}),
});

/**
 * Starts PostgreSQL and Redis, each only if the settings have no URL for it. The ProcessRestarter of each server is added
 * to `restarters` before the server is ready, so that the caller can stop the server at any time.
 */
export async function startDatabases(
  settings: Settings,
  home: HomePaths,
  restarters: ProcessRestarter[],
  events: RestarterEvents,
): Promise<DatabaseUrls> {
  /**
   * Starts a database and restarts it after a crash. The first start uses the port of the previous `npm start` if that port is
   * free. A restart after a crash must use the port of the first start, because the services have the URL.
   */
  async function start<Server extends LocalServer>(
    name: 'postgres' | 'redis',
    startServer: (options: PostgresOptions) => Promise<Server>,
  ): Promise<Server> {
    let server: Server | undefined;
    const startOn = (port: number) => startServer({ folder: home[name], port, say: events.say });
    const restarter = new ProcessRestarter(
      name,
      async () => (server = server ? await startOn(server.port) : await startOnFreePort(readPorts(home)[name], startOn)),
      events,
    );
    restarters.push(restarter);
    await restarter.start();
    rememberPorts(home, { [name]: server!.port });
    return server!;
  }
  const [database, REDIS_URL] = await Promise.all([
    settings.databaseUrl ? urlsOf(settings) : start('postgres', startPostgres).then(urlsOfServer),
    settings.redisUrl ?? start('redis', startRedis).then(({ url }) => url),
  ]);
  return { ...database, REDIS_URL };
}
