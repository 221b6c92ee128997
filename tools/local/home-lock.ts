import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isRunning, type ProcessIdentity } from './processes.ts';

export interface Lock {
  release(): void;
}

/** The file names its owner by pid and start time, so that neither a crash nor a recycled pid keeps anybody out. */
export async function takeLock(file: string, owner = thisProcess()): Promise<Lock | { heldBy: ProcessIdentity }> {
  const text = JSON.stringify(owner);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const heldBy = readOwner(file);
    if (heldBy && isRunning(heldBy)) return { heldBy };
    rmSync(file, { force: true });
    if (!writeIfAbsent(file, text)) continue;
    // Two may have found the same dead owner, and the slower one removed the faster one's fresh file: whoever still stands
    // in it a moment later has it.
    await sleep(50);
    if (read(file) === text) return { release: () => read(file) === text && rmSync(file, { force: true }) };
  }
  return { heldBy: readOwner(file) ?? owner };
}

/** For work that is worth waiting for, like a build somebody else is already at. */
export async function waitForLock(file: string, onWait: (heldBy: ProcessIdentity) => void): Promise<Lock> {
  for (let waited = false; ; waited = true) {
    const lock = await takeLock(file);
    if ('release' in lock) return lock;
    if (!waited) onWait(lock.heldBy);
    await sleep(200);
  }
}

export function thisProcess(): ProcessIdentity {
  return identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
}

function writeIfAbsent(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined also when a crash or a full disk left half a file. */
function readOwner(file: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(read(file) ?? '') as ProcessIdentity;
  } catch {
    return undefined;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
