import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A pid alone is recycled sooner or later; with the moment the process began it names one process for ever. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** Undefined when there is no such process, or only its unreaped remains (a zombie holds no files and no ports). */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const startedAt = process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isRunning(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid);
  return now !== undefined && now.startedAt === identity.startedAt;
}

/** The command line with its arguments, spaces between; empty when it cannot be read. */
export function commandLine(pid: number): string {
  if (process.platform !== 'linux') return ps(pid, 'command=');
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** Asks with `signal`, waits, then insists with SIGKILL. Never touches a process that only inherited the pid. */
export async function endProcess(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  sendSignal(identity, signal);
  if (await isGone(identity, graceMs)) return;
  sendSignal(identity, 'SIGKILL');
  await isGone(identity, 5_000);
}

function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function isGone(identity: ProcessIdentity, withinMs: number): Promise<boolean> {
  const giveUpAt = Date.now() + withinMs;
  while (isRunning(identity)) {
    if (Date.now() >= giveUpAt) return false;
    await sleep(20);
  }
  return true;
}

function startFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may itself hold spaces and brackets: count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const state = fields[0];
    const ticksSinceBoot = fields[19];
    if (state === 'Z' || state === 'X' || ticksSinceBoot === undefined) return undefined;
    // Ticks count from boot, so the boot must be part of the name: a file with a pid in it survives a restart of the machine.
    return `${bootId()}:${ticksSinceBoot}`;
  } catch {
    return undefined;
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

function startFromPs(pid: number): string | undefined {
  return ps(pid, 'state=').startsWith('Z') ? undefined : ps(pid, 'lstart=') || undefined;
}

function ps(pid: number, column: string): string {
  return spawnSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}
