import { fork, type ChildProcess, type StdioOptions } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../../tools/local/build.ts';
import { startOnFreePort } from '../../tools/local/free-port.ts';
import { PROBE_ARGUMENTS } from './probe.ts';

/** A started process of one of our services. */
export interface RunningService {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const EXIT_WITH_PARENT = path.join(import.meta.dirname, 'leave-with-parent.mjs');
/** Starting a Nest service takes about a second, on a busy machine several. */
const START_TIMEOUT_MS = 30_000;
const DRAIN_TIMEOUT_MS = 20_000;
/** Log output goes to stderr, because stdout contains the result. */
export const LOGS_TO_STDERR: StdioOptions = ['ignore', 2, 2, 'ipc'];

/** The Node flags of the monolith in production (k8s/base/monolith.yaml). */
export const MONOLITH_FLAGS = ['--max-semi-space-size=32'];

/** Starts the monolith from dist like in production, on a free port. */
export function startMonolith(environment: Record<string, string>): Promise<RunningService> {
  return startOnFreePort(undefined, (port) =>
    startOn(port, { name: 'monolith', portVariable: 'MONOLITH_PORT', environment, execArgv: MONOLITH_FLAGS }),
  );
}

/** Starts the queue service like in production. With `probe: true` it has a probe inside (probed.mjs), which costs processor time. */
export function startQueueService(environment: Record<string, string>, { probe = true } = {}): Promise<ProbedService> {
  // The Node flags of the queue service in production (k8s/base/queue-service.yaml).
  const execArgv = ['--max-semi-space-size=8', ...(probe ? PROBE_ARGUMENTS : [])];
  const deployed = { ...environment, MALLOC_ARENA_MAX: '2' };
  return startOnFreePort(undefined, (port) =>
    startOn(port, { name: 'queue-service', portVariable: 'QUEUE_PORT', environment: deployed, execArgv }),
  );
}

/** Starts the notification worker from dist, on a free port. `execArgv`: more flags of Node, such as for a profile. */
export function startWorker(environment: Record<string, string>, execArgv: readonly string[] = []): Promise<RunningService> {
  return startOnFreePort(undefined, (port) =>
    startOn(port, { name: 'notification-worker', portVariable: 'WORKER_PORT', environment, execArgv }),
  );
}

/** A service whose event-loop stalls and memory can be read with `probe`. */
export interface ProbedService extends RunningService {
  readonly child: ChildProcess;
}

interface ServiceToStart {
  readonly name: string;
  readonly portVariable: string;
  readonly environment: Record<string, string>;
  readonly execArgv?: readonly string[];
}

async function startOn(port: number, { name, portVariable, environment, execArgv = [] }: ServiceToStart): Promise<ProbedService> {
  const child = fork(path.join(ROOT, `dist/apps/${name}/src/main.js`), [], {
    env: { PATH: process.env.PATH, ...environment, [portVariable]: String(port) },
    execArgv: ['--enable-source-maps', '--import', EXIT_WITH_PARENT, ...execArgv],
    stdio: LOGS_TO_STDERR,
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const killTimer = setTimeout(() => child.kill('SIGKILL'), DRAIN_TIMEOUT_MS);
    await exited;
    clearTimeout(killTimer);
  };
  const url = `http://127.0.0.1:${port}`;
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  while (!(await isReady(url))) {
    if (child.exitCode !== null || Date.now() > giveUpAt) {
      await stop();
      throw new Error(`The ${name} did not get ready on port ${port}; see its output above.`);
    }
    await sleep(50);
  }
  return { url, pid: child.pid!, stop, child };
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}
