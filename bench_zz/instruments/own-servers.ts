import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../../tools/local/build.ts';

export interface OwnServers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly pids: { readonly postgres: number; readonly redis: number };
  stop(): Promise<void>;
}

/**
 * PostgreSQL and Redis for one benchmark, on free ports in a temporary folder, with everything that keeps data safe switched
 * on. They go when we go, however we go: their keeper waits for the end of its stdin.
 */
export async function startOwnServers(): Promise<OwnServers> {
  const script = path.join(ROOT, 'tools/local/test-servers.ts');
  const keeper = spawn(process.execPath, [script, '1', '--durable'], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const gone = new Promise<void>((resolve) => keeper.once('exit', () => resolve()));
  const line = await Promise.race([
    new Promise<string>((resolve) => createInterface({ input: keeper.stdout }).once('line', resolve)),
    gone.then(() => Promise.reject(new Error('PostgreSQL and Redis did not start; the reason stands above.'))),
  ]);
  const { database, redis, pids } = JSON.parse(line) as {
    database: string;
    redis: string[];
    pids: { postgres: number; redis: number[] };
  };
  return {
    databaseUrl: database,
    redisUrl: redis[0]!,
    pids: { postgres: pids.postgres, redis: pids.redis[0]! },
    stop: async () => {
      keeper.stdin.end();
      await gone;
    },
  };
}
