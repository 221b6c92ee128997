import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { readText } from './optional-file.ts';

/** Identifies one process. A pid alone can be reused by the operating system, so the start time is included. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/**
 * The identity of the process with this pid. Undefined if the process does not exist or is a zombie (a zombie has no files and
 * ports open).
 */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const startedAt = process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** True if the process with this pid and start time still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid);
  return now !== undefined && now.startedAt === identity.startedAt;
}

/** The command of a process and its arguments, separated by spaces; empty if they cannot be read. */
export function commandLine(pid: number): string {
  if (process.platform !== 'linux') return ps(pid, 'command=');
  return (readText(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
}

/**
 * Ends a process: sends `signal`, waits up to `graceMs`, then sends SIGKILL. Never signals another process that has the same pid
 * now.
 */
export async function endProcess(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  sendSignal(identity, signal);
  if (await endsWithin(identity, graceMs)) return;
  sendSignal(identity, 'SIGKILL');
  await endsWithin(identity, 5_000);
}

function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function endsWithin(identity: ProcessIdentity, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (isRunning(identity)) {
    if (Date.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}

function startFromProc(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`) ?? '';
  // The second field is the program's name in parentheses. It may contain spaces and parentheses, so we start after the last ')'.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const ticksSinceBoot = fields[19];
  if (state === 'Z' || state === 'X' || ticksSinceBoot === undefined) return undefined;
  // The ticks count from the boot of the machine. Files that contain an identity survive a reboot, so the boot id is added.
  return `${readText('/proc/sys/kernel/random/boot_id')?.trim()}:${ticksSinceBoot}`;
}

function startFromPs(pid: number): string | undefined {
  return ps(pid, 'state=').startsWith('Z') ? undefined : ps(pid, 'lstart=') || undefined;
}

function ps(pid: number, column: string): string {
  return spawnSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}
