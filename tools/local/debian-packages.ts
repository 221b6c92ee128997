import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

const CACHE = path.join(import.meta.dirname, '../../.cache');

/** The folder for the unpacked copy of a program. The folder may not exist yet. */
export function unpackedFolder(name: string): string {
  return path.join(CACHE, `${name}-${process.platform}-${process.arch}`);
}

/** The value of LD_LIBRARY_PATH with which an unpacked program finds its libraries. */
export function libraryPathOf(root: string): string {
  const libraries = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.so(\.|$)/.test(file));
  const folders = new Set(libraries.map((file) => path.dirname(path.join(root, file))));
  return [...folders].join(path.delimiter);
}

/** True if this machine can download Debian packages. */
export function hasApt(): boolean {
  return spawnSync('apt-get', ['--version']).status === 0 && spawnSync('dpkg-deb', ['--version']).status === 0;
}

/** What to download, where to unpack it, and how to try it out. */
export interface UnpackOptions {
  /** The folder for the unpacked copy, as `unpackedFolder` returns it. */
  into: string;
  /** Returns the names of the packages to unpack. `dependenciesOf` tells the dependencies of a package. */
  packages(dependenciesOf: DependenciesOf): string[];
  /** Throws if the unpacked program does not run. */
  tryOut(root: string): void;
}

/** Returns the names of the packages on which a package depends. */
export type DependenciesOf = (name: string, options?: { recurse: boolean }) => string[];

/** Downloads Debian packages and unpacks them into the project's cache. Nothing is installed on the system. */
export function unpackFromDebian({ into, packages, tryOut }: UnpackOptions): void {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(path.join(CACHE, 'fetch-'));
  try {
    const root = path.join(work, 'root');
    for (const folder of ['lists/partial', 'archives/partial', 'packages', 'root'])
      mkdirSync(path.join(work, folder), { recursive: true });
    const folder = path.join(work, 'packages');
    download(work, folder, packages);
    for (const file of readdirSync(folder)) run('dpkg-deb', ['-x', path.join(folder, file), root], work);
    tryOut(root);
    // Two processes may download at the same time. The process that is second finds the copy of the first one and discards its
    // own copy.
    if (!existsSync(into)) renameSync(root, into);
  } catch (error) {
    if (!existsSync(into)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Selects the libraries among the packages, without those that every Debian has: a second libc would conflict with the system's.
 * Package names differ between releases (libssl3, libssl3t64), so they are read from the dependencies of a package instead of
 * being listed here.
 */
export function selectLibraries(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith('lib') && !['libc6', 'libsystemd0', 'libgcc-s1', 'libstdc++6'].includes(name));
}

/**
 * Downloads the packages. `apt-get update` fails if one of several package sources is unreachable; its error is thrown only if
 * the download fails too.
 */
function download(work: string, folder: string, packages: UnpackOptions['packages']): void {
  let reason: unknown;
  try {
    run('apt-get', [...aptOptions(work), '-o', 'APT::Update::Error-Mode=any', 'update'], folder);
  } catch (error) {
    reason = error;
  }
  try {
    const names = packages((name, options) => dependencies(work, name, options));
    run('apt-get', [...aptOptions(work), 'download', ...names], folder);
  } catch (error) {
    throw reason ?? error;
  }
}

function dependencies(work: string, name: string, options?: { recurse: boolean }): string[] {
  const only = ['--no-recommends', '--no-suggests', '--no-conflicts', '--no-breaks', '--no-replaces', '--no-enhances'];
  const output = run(
    'apt-cache',
    [...aptOptions(work), 'depends', ...only, ...(options?.recurse ? ['--recurse'] : []), name],
    work,
  );
  return [...new Set([...output.matchAll(/^ {2}Depends: (\S+)$/gm)].map(([, found]) => found ?? ''))];
}

function aptOptions(work: string): string[] {
  const options = [`Dir::State::lists=${work}/lists`, `Dir::Cache=${work}`, 'APT::Sandbox::User=', 'Acquire::Languages=none'];
  options.push('Acquire::Retries=1', 'Acquire::http::Timeout=20', 'Acquire::https::Timeout=20');
  return ['-qq', ...options.flatMap((option) => ['-o', option])];
}

function run(command: string, args: string[], cwd: string): string {
  const result = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (result.status === 0) return result.stdout;
  const message = (result.stderr || result.error?.message || '').trim().split('\n')[0];
  throw new Error(`${command}: ${message || 'failed'}`);
}
