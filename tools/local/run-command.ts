import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Where and with which environment a command runs. */
export interface CommandOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  onLine?(line: string): void;
  /** Aborting this signal ends the command. */
  signal?: AbortSignal;
}

/** Runs a command until it ends and returns its exit code and its output. */
export async function runCommand(command: string, args: string[], options: CommandOptions) {
  options.signal?.throwIfAborted();
  const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  eachLine(child, (line) => {
    lines.push(line);
    options.onLine?.(line);
  });
  const end = () => void child.kill('SIGTERM');
  options.signal?.addEventListener('abort', end, { once: true });
  const code = await new Promise<number>((resolve) => {
    child.once('error', (error) => {
      lines.push(error.message);
      resolve(127);
    });
    // `close` instead of `exit`, because at `exit` the last lines may not have been read yet.
    child.once('close', (exitCode) => resolve(exitCode ?? 1));
  });
  options.signal?.removeEventListener('abort', end);
  options.signal?.throwIfAborted();
  return { code, output: lines.join('\n') };
}

/** Calls `onLine` for each line that the process writes to stdout or stderr. */
export function eachLine(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLine);
  }
}
