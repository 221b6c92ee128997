import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { waitAtMost } from '../wait-at-most.ts';

/** A connection to one Redis server or to a cluster. */
export type RedisConnection = Redis | Cluster;

const QUIT_TIMEOUT_MS = 1000;
/**
 * How long a closing connection waits for the server to close it, too. Then it is destroyed. ioredis' default of 2 s would delay
 * a shutdown.
 */
const DISCONNECT_TIMEOUT_MS = 500;
/**
 * If a command is in flight and no byte arrives for this time, the client reconnects. When the machine of the server fails, the
 * connection is not closed, and TCP notices this only after about 15 minutes. Job connections have a longer timeout, because
 * BullMQ's blocking reads wait up to 10 s.
 */
const SILENCE_TIMEOUT_MS = { others: 4000, jobs: 15_000 };

/**
 * Which commands of one tick are sent as one write (ioredis' auto-pipelining). `all but scripts` is for users of BatchedScript:
 * its calls are batches already, and need not wait for the pipeline, of which ioredis has only one in flight. In a cluster
 * scripts are pipelined, too, because there BatchedScript sends each call separately.
 */
export type SharedWrites = 'all' | 'all but scripts';

/**
 * Connects to Redis. One URL is a server, several URLs are the nodes of a cluster. A command that is in flight when the
 * connection breaks fails and is not sent again, because it may have been executed. Without Redis a command fails within 2
 * seconds. Connections for BullMQ jobs (`forJobs`) differ: their commands wait for Redis without a limit and are sent again.
 */
export function connectRedis(
  urls: string,
  options: { name: string; forJobs?: boolean; commandTimeoutMs?: number; sharedWrites?: SharedWrites },
): RedisConnection {
  const common: RedisOptions = {
    connectionName: `tribina-${options.name}`,
    // Job connections have no command timeout. Without sending it again, the promise of a command in flight would stay open for
    // ever after a broken connection, and the worker would do one job less at a time. BullMQ's scripts check the lock of the job,
    // so a repeated command does no harm.
    autoResendUnfulfilledCommands: options.forJobs ?? false,
    enableOfflineQueue: options.forJobs ?? false,
    maxRetriesPerRequest: options.forJobs ? null : 1,
    connectTimeout: 2000,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    // Commands of many requests in one tick are sent as one write. When there is only one command, it is not delayed.
    enableAutoPipelining: options.sharedWrites !== undefined,
    autoPipeliningIgnoredCommands: options.sharedWrites === 'all but scripts' && !urls.includes(',') ? ['eval', 'evalsha'] : [],
    socketTimeout: options.forJobs ? SILENCE_TIMEOUT_MS.jobs : SILENCE_TIMEOUT_MS.others,
    ...(options.forJobs ? {} : { commandTimeout: options.commandTimeoutMs ?? 2000 }),
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2000) * (0.5 + Math.random()),
  };
  const nodes = urls.split(',').map((url) => url.trim());
  const connection: RedisConnection =
    nodes.length > 1
      ? new Cluster(nodes, { redisOptions: common, enableOfflineQueue: options.forJobs ?? false, slotsRefreshTimeout: 2000 })
      : new Redis(nodes[0] ?? '', common);
  // Without a listener ioredis writes every failed attempt to connect to the console. The health check and failed commands report
  // the lost connection.
  connection.on('error', () => undefined);
  return connection;
}

/**
 * Waits until the connection is usable, so that a service that starts together with Redis does not refuse its first requests.
 * Returns false after the timeout.
 */
export async function whenReady(connection: RedisConnection, timeoutMs = 5000): Promise<boolean> {
  if (connection.status === 'ready') return true;
  const ready = new Promise<boolean>((resolve) => connection.once('ready', () => resolve(true)));
  return waitAtMost(timeoutMs, ready, false);
}

/**
 * Closes the connection after the commands in flight are answered, or after 1 second. `quit` alone is not enough: it may resolve
 * while ioredis goes on reconnecting, and it never resolves if the server does not answer.
 */
export async function closeRedis(connection: RedisConnection): Promise<void> {
  const closed = connection.status === 'ready' ? connection.quit().catch(() => undefined) : undefined;
  if (closed) await waitAtMost(QUIT_TIMEOUT_MS, closed, undefined);
  // On an ended connection `disconnect` would start a timer that is never cleared and keeps the process alive for 2 s.
  if (connection.status !== 'end') connection.disconnect();
}
