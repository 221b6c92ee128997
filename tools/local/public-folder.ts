import { createHash } from 'node:crypto';
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readText } from './optional-file.ts';
import { identify } from './processes.ts';
import { UserError } from './trouble.ts';

// PostgreSQL refuses to run as root. If root runs `npm start`, PostgreSQL runs as user nobody. This user cannot enter a checkout in a
// closed folder (root's home, or a folder made by `mktemp -d`). In that case its data, and if needed its binaries, are in a public
// folder under /var/tmp instead, which survives a restart of the machine.

/** The ids of the user nobody, who exists on every system and owns no files. */
export const NOBODY = { uid: 65534, gid: 65534 };
export const isRoot = process.getuid?.() === 0;

const PREFIX = 'tribina-home-';
const TEMPORARY_FOLDERS = ['/tmp', '/var/tmp', tmpdir()];

/** Makes user nobody the owner of a file or folder. Does nothing if we do not run as root. */
export function giveToNobody(item: string): void {
  if (isRoot) chownSync(item, NOBODY.uid, NOBODY.gid);
}

/** True if user nobody can enter this folder. Always true if we do not run as root, because then user nobody is not used. */
export function isOpenToUserNobody(folder: string): boolean {
  if (!isRoot) return true;
  for (let parent = path.resolve(folder); ; parent = path.dirname(parent)) {
    if (existsSync(parent) && (statSync(parent).mode & 0o001) === 0) return false;
    if (parent === path.dirname(parent)) return true;
  }
}

/**
 * The public folder that stands in for `folder`. Its name is a hash of the path of `folder`, so that the next start finds it
 * again.
 */
export function publicFolderOf(folder: string): string {
  const hash = createHash('sha256').update(path.resolve(folder)).digest('hex').slice(0, 12);
  return path.join(baseFolder(), PREFIX + hash);
}

/** Makes the public folder that is used instead of `folder`. Throws if another user has made a folder at this path. */
export function claimPublicFolder(folder: string): string {
  const publicFolder = publicFolderOf(folder);
  if (!lstatSync(publicFolder, { throwIfNoEntry: false })) {
    removeAbandonedFolders();
    mkdirSync(publicFolder, { mode: 0o755 });
  }
  const found = lstatSync(publicFolder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new UserError(
      `${publicFolder} exists but belongs to another user.`,
      'Remove it, or move the checkout to a folder that every user may enter.',
    );
  }
  writeFileSync(originFile(publicFolder), path.resolve(folder));
  return publicFolder;
}

/**
 * Removes public folders (100 MB each) of checkouts that were in temporary folders and have been deleted. Public folders of other
 * missing checkouts stay, because such a checkout may be on a disk that is not mounted now.
 */
function removeAbandonedFolders(): void {
  for (const name of readdirSync(baseFolder())) {
    if (!name.startsWith(PREFIX)) continue;
    const publicFolder = path.join(baseFolder(), name);
    const origin = readText(originFile(publicFolder)) ?? '';
    const isInTemporaryFolder = TEMPORARY_FOLDERS.some((parent) => origin.startsWith(`${parent}/`));
    const pid = Number(readText(path.join(publicFolder, 'data/postmaster.pid'))?.split('\n')[0]);
    const isInUse = identify(pid) !== undefined;
    if (isInTemporaryFolder && !existsSync(origin) && !existsSync(path.dirname(origin)) && !isInUse)
      rmSync(publicFolder, { recursive: true, force: true });
  }
}

function baseFolder(): string {
  return ['/var/tmp', '/tmp'].find((parent) => existsSync(parent) && isOpenToUserNobody(parent)) ?? '/tmp';
}

function originFile(publicFolder: string): string {
  return path.join(publicFolder, 'stands-in-for');
}
