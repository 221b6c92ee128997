import { startOnFreePort } from './free-port.ts';
import { type HomePaths, readPorts, rememberPorts } from './home.ts';
import { ProcessRestarter, type RestarterEvents } from './process-restarter.ts';
import type { LocalServer } from './local-server.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Settings } from './settings.ts';

/** The URLs of PostgreSQL and Redis, with the names of their settings. */
export interface DatabaseUrls {
  DATABASE_URL: string;
  REDIS_URL: string;
}

type Start = (port: number) => Promise<LocalServer>;

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
  const { say } = events;
  const postgres: Start = (port) => startPostgres({ folder: home.postgres, port, say });
  const redis: Start = (port) => startRedis({ folder: home.redis, port, say });
  const [DATABASE_URL, REDIS_URL] = await Promise.all([
    settings.databaseUrl ?? startWithRestarts('postgres', home, postgres, restarters, events),
    settings.redisUrl ?? startWithRestarts('redis', home, redis, restarters, events),
  ]);
  return { DATABASE_URL, REDIS_URL };
}

/**
 * Starts a database and restarts it after a crash. The first start uses the port of the previous `npm start` if that port is
 * free. A restart after a crash must use the port of the first start, because the services have the URL.
 */
async function startWithRestarts(
  name: 'postgres' | 'redis',
  home: HomePaths,
  start: Start,
  restarters: ProcessRestarter[],
  events: RestarterEvents,
): Promise<string> {
  let url = '';
  let port: number | undefined;
  const restarter = new ProcessRestarter(
    name,
    async () => {
      const server = port === undefined ? await startOnFreePort(readPorts(home)[name], start) : await start(port);
      ({ url, port } = server);
      return server;
    },
    events,
  );
  restarters.push(restarter);
  await restarter.start();
  rememberPorts(home, { [name]: port });
  return url;
}
