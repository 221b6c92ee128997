import { spawn } from 'node:child_process';
import { followProcess, type RunningProcess } from './local-server.ts';
import { type CommandOptions, eachLine } from './run-command.ts';

/**
 * Starts one of our Node programs in its own process group, so that Ctrl-C reaches only the process of `npm start`, which then
 * stops the programs in order. A service that is killed after the grace period has open work, which its next start finishes.
 */
export function startService(
  args: string[],
  { cwd, env, onLine }: Required<Omit<CommandOptions, 'signal'>>,
): Promise<RunningProcess> {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, ['--enable-source-maps', ...args], { cwd, env, stdio, detached: true });
  eachLine(child, onLine);
  return followProcess(child, 'SIGTERM', 'SIGKILL');
}
