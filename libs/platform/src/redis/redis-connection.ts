import { Cluster, Redis, type RedisOptions } from 'ioredis';

export type RedisConnection = Redis | Cluster;

const GOODBYE_MS = 1000;
/** After this an ending connection that the server keeps open is destroyed. ioredis' own 2 s would hold up a process that stops. */
const DISCONNECT_MS = 500;
/**
 * A server whose machine is gone says nothing, not even good-bye, and TCP believes in it for a quarter of an hour. Whoever
 * answers nothing for so long is called anew. For jobs later, as they wait for work on purpose: BullMQ asks for up to 10 s.
 */
const SILENCE_MS = { others: 4000, jobs: 15_000 };

/**
 * Who goes out together. Scripts apart is for where they have come together already (shared-script.ts): the client has one
 * shared write out at a time, for which they need not wait. In a cluster they come one by one.
 */
export type SharedWrites = 'all' | 'all but scripts';

/**
 * One URL is a server, several are the nodes of a cluster. Commands in flight when a connection breaks are not sent
 * again by the client (it would count twice what it cannot know failed), and nothing waits for Redis longer than the
 * caller can: unreachable is an answer within a second or two.
 */
export function connectRedis(
  urls: string,
  options: { name: string; forJobs?: boolean; commandTimeoutMs?: number; sharedWrites?: SharedWrites },
): RedisConnection {
  const common: RedisOptions = {
    connectionName: `tribina-${options.name}`,
    // Waiting without end and not sending again would leave the promise of a command in flight open for ever: each broken
    // connection would cost a job worker one of its hands. BullMQ's scripts check the job's lock, so twice does no harm.
    autoResendUnfulfilledCommands: options.forJobs ?? false,
    enableOfflineQueue: options.forJobs ?? false,
    maxRetriesPerRequest: options.forJobs ? null : 1,
    connectTimeout: 2000,
    disconnectTimeout: DISCONNECT_MS,
    // What many requests ask in one turn of the event loop goes out as one write; for a request alone it changes nothing.
    enableAutoPipelining: options.sharedWrites !== undefined,
    autoPipeliningIgnoredCommands: options.sharedWrites === 'all but scripts' && !urls.includes(',') ? ['eval', 'evalsha'] : [],
    socketTimeout: options.forJobs ? SILENCE_MS.jobs : SILENCE_MS.others,
    ...(options.forJobs ? {} : { commandTimeout: options.commandTimeoutMs ?? 2000 }),
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2000) * (0.5 + Math.random()),
  };
  const nodes = urls.split(',').map((url) => url.trim());
  const connection: RedisConnection =
    nodes.length > 1
      ? new Cluster(nodes, { redisOptions: common, enableOfflineQueue: options.forJobs ?? false, slotsRefreshTimeout: 2000 })
      : new Redis(nodes[0] ?? '', common);
  // Without a listener ioredis writes every failed attempt to the console; health and each call's own error tell enough.
  connection.on('error', () => undefined);
  return connection;
}

/** Waits for the first usable connection, so that a service that starts with Redis does not refuse its first callers. */
export async function whenReady(connection: RedisConnection, timeoutMs = 5000): Promise<boolean> {
  if (connection.status === 'ready') return true;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    connection.once('ready', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/**
 * Lets what is on its way arrive, if the server answers within a second. `quit` alone resolves while ioredis goes on
 * reconnecting, and never against a silent server.
 */
export async function closeRedis(connection: RedisConnection): Promise<void> {
  if (connection.status === 'ready') {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise((resolve) => {
      timer = setTimeout(resolve, GOODBYE_MS);
    });
    await Promise.race([connection.quit().catch(() => undefined), tooLate]).finally(() => clearTimeout(timer));
  }
  // On a connection that has ended, `disconnect` would start a timer that nothing clears, and the process would stay for 2 s.
  if (connection.status !== 'end') connection.disconnect();
}
