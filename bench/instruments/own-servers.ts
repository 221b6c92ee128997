import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../../tools/local/build.ts';

/** The two servers of a benchmark. */
export type ServerName = 'postgres' | 'redis';

/** A PostgreSQL standby server that can be promoted to primary. */
export interface Standby {
  readonly url: string;
  kill(): Promise<void>;
}

/** A PostgreSQL and a Redis server that only one benchmark or fault scenario uses. */
export interface OwnServers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly pids: { readonly postgres: number; readonly redis: number };
  /** Kills a server with `kill -9`. Resolves when its process has ended. */
  kill(server: ServerName): Promise<void>;
  /** Starts a killed server again, with the data and port it had. Resolves when the server answers. */
  start(server: ServerName): Promise<void>;
  /** Starts a PostgreSQL standby that replicates from this address. The caller promotes or kills the standby. */
  startStandby(primaryUrl: string): Promise<Standby>;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL and Redis for one benchmark or fault scenario, on free ports in a temporary folder, with full durability. If this
 * process ends for any reason, the servers stop too: the process that runs them waits for the end of its stdin.
 */
export async function startOwnServers(): Promise<OwnServers> {
  const script = path.join(ROOT, 'tools/local/test-servers.ts');
  const serverProcess = spawn(process.execPath, [script, '1', '--durable'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = new Promise<void>((resolve) => serverProcess.once('exit', () => resolve()));
  const lines = createInterface({ input: serverProcess.stdout });
  const nextLine = (): Promise<string> =>
    Promise.race([
      new Promise<string>((resolve) => lines.once('line', resolve)),
      exited.then(() =>
        Promise.reject(new Error('PostgreSQL and Redis have stopped or did not start; see their error output above.')),
      ),
    ]);
  const { database, redis, pids } = JSON.parse(await nextLine()) as {
    database: string;
    redis: string[];
    pids: { postgres: number; redis: number[] };
  };
  const sendCommand = (command: string): Promise<string> => {
    const answer = nextLine();
    serverProcess.stdin.write(`${command}\n`);
    return answer;
  };
  return {
    databaseUrl: database,
    redisUrl: redis[0]!,
    pids: { postgres: pids.postgres, redis: pids.redis[0]! },
    kill: async (server) => void (await sendCommand(`kill ${server}`)),
    start: async (server) => void (await sendCommand(`start ${server}`)),
    startStandby: async (primaryUrl) => ({
      url: await sendCommand(`start standby ${primaryUrl}`),
      kill: async () => void (await sendCommand('kill standby')),
    }),
    stop: async () => {
      serverProcess.stdin.end();
      await exited;
    },
  };
}
