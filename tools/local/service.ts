import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { endOf, hasEnded, identityOf, type Running, stopServer } from './local-server.ts';

export interface ServiceCommand {
  name: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Gets every line the service writes, stdout and stderr alike. */
  onLine(line: string): void;
}

/** Longer than the 15 s a drain may take; then it is killed, and what it did not finish is done by the next start. */
const GRACE_MS = 20_000;

/** One of our Node programs in a process group of its own, so that Ctrl-C reaches the supervisor only, which stops things in order. */
export async function startService(command: ServiceCommand): Promise<Running> {
  const child = spawn(process.execPath, ['--enable-source-maps', ...command.args], {
    cwd: command.cwd,
    env: command.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = endOf(child);
  eachLine(child, command.onLine);
  const identity = await identityOf(child, ended);
  if (!identity) throw new Error((await ended).words);
  const handle = { ended, hasEnded: () => hasEnded(child), signal: (signal: NodeJS.Signals) => void child.kill(signal) };
  return { identity, ended, stop: () => stopServer(handle, 'SIGTERM', 'SIGKILL', GRACE_MS) };
}

export function eachLine(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLine);
  }
}
