import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identify } from './processes.ts';
import { Trouble } from './trouble.ts';

// PostgreSQL refuses to run as root, so for root it runs as nobody, and nobody cannot walk down to a checkout that lies in a
// closed folder (root's own home, a `mktemp -d`). There its data, and if need be its binaries, go to a stand-in under /var/tmp,
// which outlives a restart of the machine.

/** This user exists on every system and owns nothing. */
export const NOBODY = { uid: 65534, gid: 65534 };
export const isRoot = process.getuid?.() === 0;

const PREFIX = 'tribina-home-';
const DISPOSABLE = ['/tmp', '/var/tmp', tmpdir()];

/** Can nobody walk down to this folder? Only root needs to ask. */
export function isReachable(folder: string): boolean {
  if (!isRoot) return true;
  for (let place = path.resolve(folder); ; place = path.dirname(place)) {
    if (existsSync(place) && (statSync(place).mode & 0o001) === 0) return false;
    if (place === path.dirname(place)) return true;
  }
}

/** The name of the stand-in follows from the name of the folder, so that the next start finds it again. */
export function publicStandIn(folder: string): string {
  const hash = createHash('sha256').update(path.resolve(folder)).digest('hex').slice(0, 12);
  return path.join(base(), PREFIX + hash);
}

/** Makes the stand-in of a folder, refusing one that somebody else put there first. */
export function claimStandIn(folder: string): string {
  const standIn = publicStandIn(folder);
  if (!lstatSync(standIn, { throwIfNoEntry: false })) {
    removeForgotten();
    mkdirSync(standIn, { mode: 0o755 });
  }
  const { uid } = lstatSync(standIn);
  if (!lstatSync(standIn).isDirectory() || uid !== process.getuid?.()) {
    throw new Trouble(
      `${standIn} exists and is not ours.`,
      'Remove it, or put the checkout into a folder that every user may enter.',
    );
  }
  writeFileSync(originFile(standIn), path.resolve(folder));
  return standIn;
}

/**
 * Clones come and go in temporary folders, and their stand-ins (100 MB) would stay for ever. Only those: a folder elsewhere that
 * is missing today may be on a disk that is not mounted.
 */
function removeForgotten(): void {
  for (const name of readdirSync(base())) {
    if (!name.startsWith(PREFIX)) continue;
    const standIn = path.join(base(), name);
    const origin = read(originFile(standIn));
    const isDisposable = DISPOSABLE.some((place) => origin.startsWith(`${place}/`));
    const isInUse = identify(Number(read(path.join(standIn, 'data/postmaster.pid')).split('\n')[0])) !== undefined;
    if (isDisposable && !existsSync(origin) && !existsSync(path.dirname(origin)) && !isInUse)
      rmSync(standIn, { recursive: true, force: true });
  }
}

function base(): string {
  return ['/var/tmp', '/tmp'].find((place) => existsSync(place) && isReachable(place)) ?? '/tmp';
}

function originFile(standIn: string): string {
  return path.join(standIn, 'stands-in-for');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
