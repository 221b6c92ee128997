import { onFreePort } from './free-port.ts';
import { type Home, readPorts, rememberPorts } from './home.ts';
import { Keeper, type KeeperEvents } from './keeper.ts';
import type { LocalServer } from './local-server.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Settings } from './settings.ts';

export interface Databases {
  databaseUrl: string;
  redisUrl: string;
}

type Start = (port: number) => Promise<LocalServer>;

/** Starts PostgreSQL and Redis, each unless the settings name one; what it starts is in `keepers` at once, so that it can be stopped. */
export async function startDatabases(
  settings: Settings,
  home: Home,
  keepers: Keeper[],
  events: KeeperEvents,
): Promise<Databases> {
  const { say } = events;
  const postgres: Start = (port) => startPostgres({ folder: home.postgres, port, say });
  const redis: Start = (port) => startRedis({ folder: home.redis, port, say });
  const [databaseUrl, redisUrl] = await Promise.all([
    settings.databaseUrl ?? startKept('postgres', home, postgres, keepers, events),
    settings.redisUrl ?? startKept('redis', home, redis, keepers, events),
  ]);
  return { databaseUrl, redisUrl };
}

/** On the port of the last time if it is still free; after a crash on the same one again, for the services know no other. */
async function startKept(
  name: 'postgres' | 'redis',
  home: Home,
  start: Start,
  keepers: Keeper[],
  events: KeeperEvents,
): Promise<string> {
  let url = '';
  let port: number | undefined;
  const keeper = new Keeper(
    name,
    async () => {
      const server = port === undefined ? await onFreePort(readPorts(home)[name], start) : await start(port);
      ({ url, port } = server);
      return server;
    },
    events,
  );
  keepers.push(keeper);
  await keeper.start();
  rememberPorts(home, { [name]: port });
  return url;
}
