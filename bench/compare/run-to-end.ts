import { spawn } from 'node:child_process';

/** A benchmark that is asked to end stops its servers first. */
const GRACE_MS = 20_000;
const KEPT_LINES = 15;

export interface RunOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/**
 * Runs a command to its end, and throws with its last lines when it fails. It gets a process group of its own: when `signal`
 * aborts or this process exits, everything it started is ended, and nothing else. Resolves or throws when all of it is gone.
 */
export async function runToEnd(command: string, args: readonly string[], { cwd, signal }: RunOptions): Promise<void> {
  signal.throwIfAborted();
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  const keep = (text: Buffer): void => void (said = (said + text.toString()).split('\n').slice(-KEPT_LINES).join('\n'));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const end = (how: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, how);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const killGroup = (): void => end('SIGKILL');
  let insisting: NodeJS.Timeout | undefined;
  const askToEnd = (): void => {
    end('SIGTERM');
    insisting = setTimeout(killGroup, GRACE_MS);
  };
  signal.addEventListener('abort', askToEnd, { once: true });
  process.once('exit', killGroup);
  try {
    // `close`, not `exit`: servers of a benchmark hold the pipes until they are gone.
    const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code ?? 'a signal'}:\n${said.trim()}`);
  } finally {
    clearTimeout(insisting);
    signal.removeEventListener('abort', askToEnd);
    process.off('exit', killGroup);
  }
}
