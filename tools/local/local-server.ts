import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess, identify, type ProcessIdentity } from './processes.ts';

/**
 * How long a process may take to stop. The drain of a service (finishing open requests and jobs) may take 15 s. A process that
 * has not ended after this time is killed.
 */
const GRACE_MS = 20_000;

/** How a process ended. */
export interface ProcessEnd {
  code: number | null;
  description: string;
}

/** A process that we have started and that runs until it is stopped. */
export interface RunningProcess {
  readonly identity: ProcessIdentity;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<ProcessEnd>;
  /** Ends the process without loss of data. May be called twice. */
  stop(): Promise<void>;
}

/** A database server that we have started on this machine. */
export interface LocalServer extends RunningProcess {
  readonly url: string;
  readonly port: number;
}

/** The process of a database server that was started and may not be ready yet. */
interface ServerProcess extends RunningProcess {
  lastWords(): string;
}

/**
 * Starts a server whose output goes to a file. With a pipe to this process instead of a file, the server would fail when this
 * process is killed. `stopSignals` are those of followProcess.
 */
export async function spawnServer(
  command: string,
  args: string[],
  logFile: string,
  options: SpawnOptions,
  stopSignals: readonly [polite: NodeJS.Signals, firm: NodeJS.Signals],
): Promise<ServerProcess> {
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  // Detached: Ctrl-C reaches every process of the terminal's group at once, but the databases must be stopped last.
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const lastWords = () => readFileSync(logFile, 'utf8').trim().split('\n').slice(-5).join('\n');
  const running = await followProcess(child, ...stopSignals).catch((error: Error) => {
    throw new Error(`${command} did not start: ${error.message}\n${lastWords()}`);
  });
  return { ...running, lastWords };
}

/** Waits until `isReady` returns true. If the server ends or needs more than 60 s, the error contains the end of its log. */
export async function waitUntilReady(server: ServerProcess, name: string, isReady: () => Promise<boolean>): Promise<void> {
  // 60 s are for PostgreSQL after a crash under load, which replays its log first. Every other start takes a tenth of a second.
  const deadline = Date.now() + 60_000;
  while (!(await isReady())) {
    const ending = await Promise.race([server.ended, sleep(20)]);
    if (ending) throw new Error(`${name} stopped while starting (${ending.description}):\n${server.lastWords()}`);
    if (Date.now() > deadline) {
      await endProcess(server.identity, 'SIGKILL', 0);
      throw new Error(`${name} was not ready after 60 s:\n${server.lastWords()}`);
    }
  }
}

/**
 * Follows a process that was just spawned. Its `stop` sends the signal `polite`, and if the process still runs after the grace
 * period, the signal `firm`. Throws if the process could not be started.
 */
export async function followProcess(child: ChildProcess, polite: NodeJS.Signals, firm: NodeJS.Signals): Promise<RunningProcess> {
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (error) => resolve({ code: null, description: error.message }));
    child.once('exit', (code, signal) =>
      resolve({ code, description: signal ? `ended by ${signal}` : `ended with exit code ${code}` }),
    );
  });
  await Promise.race([new Promise((resolve) => child.once('spawn', resolve)), ended]);
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  if (!identity) throw new Error((await ended).description);
  const stop = async () => {
    child.kill(polite);
    const timer = setTimeout(() => child.kill(firm), GRACE_MS);
    await ended;
    clearTimeout(timer);
  };
  return { identity, ended, stop };
}
