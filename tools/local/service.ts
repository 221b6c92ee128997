import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { endOfProcess, hasEnded, waitForIdentity, type RunningProcess, stopServer } from './local-server.ts';

/** How to start one of our services. */
export interface ServiceCommand {
  name: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Called with each line that the service writes to stdout or stderr. */
  onLine(line: string): void;
}

/**
 * How long a service may take to stop. Its drain (finishing open requests and jobs) may take 15 s. A service that has not ended
 * after 20 s is killed; the next start finishes its open work.
 */
const GRACE_MS = 20_000;

/**
 * Starts one of our Node programs in its own process group, so that Ctrl-C reaches only the process of `npm start`, which then
 * stops the programs in order.
 */
export async function startService(command: ServiceCommand): Promise<RunningProcess> {
  const child = spawn(process.execPath, ['--enable-source-maps', ...command.args], {
    cwd: command.cwd,
    env: command.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = endOfProcess(child);
  eachLine(child, command.onLine);
  const identity = await waitForIdentity(child, ended);
  if (!identity) throw new Error((await ended).description);
  const handle = { ended, hasEnded: () => hasEnded(child), signal: (signal: NodeJS.Signals) => void child.kill(signal) };
  return { identity, ended, stop: () => stopServer(handle, 'SIGTERM', 'SIGKILL', GRACE_MS) };
}

/** Calls `onLine` for each line that the process writes to stdout or stderr. */
export function eachLine(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLine);
  }
}
