import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time from SIGTERM to SIGKILL for a benchmark, which has to stop its servers. */
const GRACE_MS = 20_000;
/** Time until SIGKILL for processes of the group that outlive the command, such as a compiler that ignores SIGTERM. */
const GROUP_GRACE_MS = 2_000;
const KEPT_LINES = 15;

/** The working folder of a command, and the signal that aborts it. */
export interface RunOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/**
 * Runs a command to its end, and throws with its last output lines if it fails. The command gets its own process group: when `signal`
 * aborts or this process exits, exactly the processes of that group are ended. Resolves or throws after all of them have ended.
 */
export async function runToEnd(command: string, args: readonly string[], { cwd, signal }: RunOptions): Promise<void> {
  signal.throwIfAborted();
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  const keep = (text: Buffer): void => void (output = (output + text.toString()).split('\n').slice(-KEPT_LINES).join('\n'));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const leader = child.pid;
  const signalAll = (signalName: NodeJS.Signals): void => void (leader !== undefined && signalGroup(leader, signalName));
  const killGroup = (): void => signalAll('SIGKILL');
  let killTimer: NodeJS.Timeout | undefined;
  const askToEnd = (): void => {
    signalAll('SIGTERM');
    killTimer = setTimeout(killGroup, GRACE_MS);
  };
  signal.addEventListener('abort', askToEnd, { once: true });
  process.once('exit', killGroup);
  try {
    // `close`, not `exit`: the servers of a benchmark hold the pipes until they have ended.
    const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
    if (leader !== undefined) await endGroup(leader);
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code ?? 'a signal'}:\n${output.trim()}`);
  } finally {
    clearTimeout(killTimer);
    signal.removeEventListener('abort', askToEnd);
    process.off('exit', killGroup);
  }
}

/** Signals a process group. False if the group has no process left that we may signal. The signal 0 only checks that. */
function signalGroup(leader: number, signalName: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signalName);
    return true;
  } catch {
    return false;
  }
}

/** Waits for the remaining processes of the group, and kills them after the grace time. */
async function endGroup(leader: number): Promise<void> {
  if (await isEmptyWithin(leader, GROUP_GRACE_MS)) return;
  signalGroup(leader, 'SIGKILL');
  await isEmptyWithin(leader, GROUP_GRACE_MS);
}

async function isEmptyWithin(leader: number, ms: number): Promise<boolean> {
  for (const giveUpAt = Date.now() + ms; signalGroup(leader, 0); await sleep(20)) if (Date.now() >= giveUpAt) return false;
  return true;
}
