import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, type ProcessIdentity } from './processes.ts';

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
interface ServerProcess {
  identity: ProcessIdentity;
  ended: Promise<ProcessEnd>;
  hasEnded(): boolean;
  signal(signal: NodeJS.Signals): void;
  lastWords(): string;
}

/**
 * Starts a server whose output goes to a file. With a pipe to this process instead of a file, the server would fail when this
 * process is killed.
 */
export async function spawnServer(
  command: string,
  args: string[],
  logFile: string,
  options: SpawnOptions,
): Promise<ServerProcess> {
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  // Detached: Ctrl-C reaches every process of the terminal's group at once, but the databases must be stopped last.
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = endOfProcess(child);
  const identity = await waitForIdentity(child, ended);
  const lastWords = () => readFileSync(logFile, 'utf8').trim().split('\n').slice(-5).join('\n');
  if (!identity) throw new Error(`${command} did not start: ${(await ended).description}\n${lastWords()}`);
  return {
    identity,
    ended,
    hasEnded: () => hasEnded(child),
    signal: (signal) => void child.kill(signal),
    lastWords,
  };
}

/** Waits until `isReady` returns true. If the server ends or needs more than 60 s, the error contains the end of its log. */
export async function waitUntilReady(server: ServerProcess, name: string, isReady: () => Promise<boolean>): Promise<void> {
  // 60 s are for PostgreSQL after a crash under load, which replays its log first. Every other start takes a tenth of a second.
  const deadline = Date.now() + 60_000;
  while (!(await isReady())) {
    if (server.hasEnded())
      throw new Error(`${name} stopped while starting (${(await server.ended).description}):\n${server.lastWords()}`);
    if (Date.now() > deadline) {
      server.signal('SIGKILL');
      throw new Error(`${name} was not ready after 60 s:\n${server.lastWords()}`);
    }
    await sleep(20);
  }
}

/** Stops a process: sends the signal `polite`, and if the process still runs after `graceMs`, the signal `firm`. */
export async function stopServer(
  server: Pick<ServerProcess, 'hasEnded' | 'signal' | 'ended'>,
  polite: NodeJS.Signals,
  firm: NodeJS.Signals,
  graceMs: number,
): Promise<void> {
  if (server.hasEnded()) return;
  server.signal(polite);
  const timer = setTimeout(() => server.signal(firm), graceMs);
  await server.ended;
  clearTimeout(timer);
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Resolves when the process has ended or could not be started. */
export function endOfProcess(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, description: error.message }));
    child.once('exit', (code, signal) =>
      resolve({ code, description: signal ? `ended by ${signal}` : `ended with exit code ${code}` }),
    );
  });
}

/** The identity of a process that was just spawned. Undefined if the command could not be started. */
export async function waitForIdentity(child: ChildProcess, ended: Promise<ProcessEnd>): Promise<ProcessIdentity | undefined> {
  await Promise.race([new Promise((resolve) => child.once('spawn', resolve)), ended]);
  return child.pid === undefined ? undefined : identify(child.pid);
}
