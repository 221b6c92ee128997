import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, readText } from './optional-file.ts';
import { identify, isRunning, type ProcessIdentity } from './processes.ts';

/** A lock of a folder that this process has taken. */
export interface LockFile {
  release(): void;
}

/**
 * Takes the lock of a folder, or returns its owner. The lock file contains the owner's pid and start time, so the lock is free
 * after its owner has crashed, even if the pid is reused.
 */
export async function takeLock(file: string, owner = thisProcess()): Promise<LockFile | { heldBy: ProcessIdentity }> {
  const text = JSON.stringify(owner);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const heldBy = readJson<ProcessIdentity>(file);
    if (heldBy && isRunning(heldBy)) return { heldBy };
    rmSync(file, { force: true });
    if (!writeIfAbsent(file, text)) continue;
    // Two processes may have found the same dead owner, and the slower one may have removed the new file of the faster one. The
    // process whose text is in the file after 50 ms has the lock.
    await sleep(50);
    if (readText(file) === text) return { release: () => readText(file) === text && rmSync(file, { force: true }) };
  }
  return { heldBy: readJson<ProcessIdentity>(file) ?? owner };
}

/** Waits until the lock is free, for example while another process is building. */
export async function waitForLock(file: string, onWait: (heldBy: ProcessIdentity) => void): Promise<LockFile> {
  for (let waited = false; ; waited = true) {
    const lock = await takeLock(file);
    if ('release' in lock) return lock;
    if (!waited) onWait(lock.heldBy);
    await sleep(200);
  }
}

/** The identity of the current process. */
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
