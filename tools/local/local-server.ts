import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, type ProcessIdentity } from './processes.ts';

/** How a process came to its end. */
export interface Ending {
  code: number | null;
  words: string;
}

/** A process of ours that runs until it is stopped. */
export interface Running {
  readonly identity: ProcessIdentity;
  /** Resolves when the process is gone, for whatever reason. */
  readonly ended: Promise<Ending>;
  /** Ends it so that nothing is lost; may be called twice. */
  stop(): Promise<void>;
}

/** A database server of ours on this machine. */
export interface LocalServer extends Running {
  readonly url: string;
  readonly port: number;
}

interface ServerProcess {
  identity: ProcessIdentity;
  ended: Promise<Ending>;
  hasEnded(): boolean;
  signal(signal: NodeJS.Signals): void;
  lastWords(): string;
}

/** Starts a server whose output goes to a file: a pipe to us would break under it when we are killed. */
export async function spawnServer(
  command: string,
  args: string[],
  logFile: string,
  options: SpawnOptions,
): Promise<ServerProcess> {
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  // Detached: Ctrl-C reaches every process of the terminal's group at once, and the databases must be the last to go.
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = endOf(child);
  const identity = await identityOf(child, ended);
  const lastWords = () => readFileSync(logFile, 'utf8').trim().split('\n').slice(-5).join('\n');
  if (!identity) throw new Error(`${command} did not start: ${(await ended).words}\n${lastWords()}`);
  return {
    identity,
    ended,
    hasEnded: () => hasEnded(child),
    signal: (signal) => void child.kill(signal),
    lastWords,
  };
}

/** Waits until `isReady` says so; an early end or too long a wait is an error that quotes the server's log. */
export async function waitUntilReady(server: ServerProcess, name: string, isReady: () => Promise<boolean>): Promise<void> {
  // A minute: after a crash under load PostgreSQL replays its log first, everything else takes a tenth of a second.
  const giveUpAt = Date.now() + 60_000;
  while (!(await isReady())) {
    if (server.hasEnded())
      throw new Error(`${name} stopped while starting (${(await server.ended).words}):\n${server.lastWords()}`);
    if (Date.now() > giveUpAt) {
      server.signal('SIGKILL');
      throw new Error(`${name} was not ready after 60 s:\n${server.lastWords()}`);
    }
    await sleep(20);
  }
}

/** Asks with `polite`, insists with `firm` after `graceMs`. */
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

export function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, words: error.message }));
    child.once('exit', (code, signal) =>
      resolve({ code, words: signal ? `ended by ${signal}` : `ended with exit code ${code}` }),
    );
  });
}

/** Undefined when the command could not be started at all. */
export async function identityOf(child: ChildProcess, ended: Promise<Ending>): Promise<ProcessIdentity | undefined> {
  await Promise.race([new Promise((resolve) => child.once('spawn', resolve)), ended]);
  return child.pid === undefined ? undefined : identify(child.pid);
}
