import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** A benchmark that is asked to end stops its servers first. */
const GRACE_MS = 20_000;
/** For what is left of a group whose leader has ended, as a compiler that does not heed SIGTERM. */
const REST_GRACE_MS = 2_000;
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
  const leader = child.pid;
  const end = (how: NodeJS.Signals): void => void (leader !== undefined && signalGroup(leader, how));
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
    if (leader !== undefined) await endRest(leader);
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code ?? 'a signal'}:\n${said.trim()}`);
  } finally {
    clearTimeout(insisting);
    signal.removeEventListener('abort', askToEnd);
    process.off('exit', killGroup);
  }
}

/** False when there is nobody left that we may signal. 0 only asks. */
function signalGroup(leader: number, how: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, how);
    return true;
  } catch {
    return false;
  }
}

async function endRest(leader: number): Promise<void> {
  if (await isEmptyWithin(leader, REST_GRACE_MS)) return;
  signalGroup(leader, 'SIGKILL');
  await isEmptyWithin(leader, REST_GRACE_MS);
}

async function isEmptyWithin(leader: number, ms: number): Promise<boolean> {
  for (const giveUpAt = Date.now() + ms; signalGroup(leader, 0); await sleep(20)) if (Date.now() >= giveUpAt) return false;
  return true;
}
