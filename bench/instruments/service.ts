import { fork, type ChildProcess, type StdioOptions } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../../tools/local/build.ts';
import { onFreePort } from '../../tools/local/free-port.ts';
import { PROBED } from './probe.ts';

export interface RunningService {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const LEAVE_WITH_PARENT = path.join(import.meta.dirname, 'leave-with-parent.mjs');
/** Nest needs about a second; a machine that is busy with others several. */
const START_MS = 30_000;
const DRAIN_MS = 20_000;
/** What our processes log is no part of the result on stdout. */
export const LOGS_TO_STDERR: StdioOptions = ['ignore', 2, 2, 'ipc'];

/** As it is deployed (k8s/base/monolith.yaml). */
export const MONOLITH_FLAGS = ['--max-semi-space-size=32'];

/** The monolith as it is deployed, from dist, on a free port. */
export function startMonolith(environment: Record<string, string>): Promise<RunningService> {
  return onFreePort(undefined, (port) =>
    startOn(port, { name: 'monolith', portVariable: 'MONOLITH_PORT', environment, execArgv: MONOLITH_FLAGS }),
  );
}

/** The same for the queue service, with a probe in it (probed.mjs). */
export function startQueueService(environment: Record<string, string>): Promise<ProbedService> {
  // As it is deployed (k8s/base/queue-service.yaml).
  const execArgv = ['--max-semi-space-size=8', ...PROBED];
  const deployed = { ...environment, MALLOC_ARENA_MAX: '2' };
  return onFreePort(undefined, (port) =>
    startOn(port, { name: 'queue-service', portVariable: 'QUEUE_PORT', environment: deployed, execArgv }),
  );
}

export function startWorker(environment: Record<string, string>): Promise<RunningService> {
  return onFreePort(undefined, (port) =>
    startOn(port, { name: 'notification-worker', portVariable: 'WORKER_PORT', environment }),
  );
}

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
    execArgv: ['--enable-source-maps', '--import', LEAVE_WITH_PARENT, ...execArgv],
    stdio: LOGS_TO_STDERR,
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const insist = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS);
    await gone;
    clearTimeout(insist);
  };
  const url = `http://127.0.0.1:${port}`;
  const giveUpAt = Date.now() + START_MS;
  while (!(await isReady(url))) {
    if (child.exitCode !== null || Date.now() > giveUpAt) {
      await stop();
      throw new Error(`The ${name} did not get ready on port ${port}; what it says stands above.`);
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
