import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../../tools/local/build.ts';

export type ServerName = 'postgres' | 'redis';

export interface Standby {
  readonly url: string;
  kill(): Promise<void>;
}

export interface OwnServers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly pids: { readonly postgres: number; readonly redis: number };
  /** kill -9. Resolves when it is gone. */
  kill(server: ServerName): Promise<void>;
  /** On the data and the port of the one that was killed. Resolves when it answers. */
  start(server: ServerName): Promise<void>;
  /** A PostgreSQL that follows the first one, which it reaches at this address; to be promoted, or to be killed in the end. */
  startStandby(primaryUrl: string): Promise<Standby>;
  stop(): Promise<void>;
}

/**
 * PostgreSQL and Redis for one benchmark or fault, on free ports in a temporary folder, with everything that keeps data safe
 * switched on. They go when we go, however we go: their keeper waits for the end of its stdin.
 */
export async function startOwnServers(): Promise<OwnServers> {
  const script = path.join(ROOT, 'tools/local/test-servers.ts');
  const keeper = spawn(process.execPath, [script, '1', '--durable'], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const gone = new Promise<void>((resolve) => keeper.once('exit', () => resolve()));
  const lines = createInterface({ input: keeper.stdout });
  const nextLine = (): Promise<string> =>
    Promise.race([
      new Promise<string>((resolve) => lines.once('line', resolve)),
      gone.then(() => Promise.reject(new Error('PostgreSQL and Redis are gone, or did not start; the reason stands above.'))),
    ]);
  const { database, redis, pids } = JSON.parse(await nextLine()) as {
    database: string;
    redis: string[];
    pids: { postgres: number; redis: number[] };
  };
  const order = (words: string): Promise<string> => {
    const answer = nextLine();
    keeper.stdin.write(`${words}\n`);
    return answer;
  };
  return {
    databaseUrl: database,
    redisUrl: redis[0]!,
    pids: { postgres: pids.postgres, redis: pids.redis[0]! },
    kill: async (server) => void (await order(`kill ${server}`)),
    start: async (server) => void (await order(`start ${server}`)),
    startStandby: async (primaryUrl) => ({
      url: await order(`start standby ${primaryUrl}`),
      kill: async () => void (await order('kill standby')),
    }),
    stop: async () => {
      keeper.stdin.end();
      await gone;
    },
  };
}
