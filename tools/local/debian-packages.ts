import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../.cache');

/** Where an unpacked copy lies, whether it is there or not. */
export function unpackedFolder(name: string): string {
  return path.join(CACHE, `${name}-${process.platform}-${process.arch}`);
}

/** What an unpacked program needs in LD_LIBRARY_PATH. */
export function libraryPathOf(root: string): string {
  const libraries = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.so(\.|$)/.test(file));
  const folders = new Set(libraries.map((file) => path.dirname(path.join(root, file))));
  return [...folders].join(path.delimiter);
}

export function hasApt(): boolean {
  return spawnSync('apt-get', ['--version']).status === 0 && spawnSync('dpkg-deb', ['--version']).status === 0;
}

export interface Unpacking {
  /** From `unpackedFolder`. */
  into: string;
  /** Which packages, given a way to ask what a package depends on. */
  packages(dependenciesOf: DependenciesOf): string[];
  /** Throws when what lies there does not run. */
  tryOut(root: string): void;
}

export type DependenciesOf = (name: string, options?: { recurse: boolean }) => string[];

/** Debian's packages, unpacked into the project's cache: the system stays untouched. */
export function unpackFromDebian({ into, packages, tryOut }: Unpacking): void {
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
    // Two starts may fetch at the same time; whoever comes second finds the place taken by an equal copy.
    if (!existsSync(into)) renameSync(root, into);
  } catch (error) {
    if (!existsSync(into)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Libraries only, and none that every Debian has: a second libc would fight with the first. Names differ from release to
 * release (libssl3, libssl3t64), which is why packages are asked for theirs.
 */
export function librariesAmong(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith('lib') && !['libc6', 'libsystemd0', 'libgcc-s1', 'libstdc++6'].includes(name));
}

/** `update` ends with an error as soon as one of several sources is unreachable; whether that matters the download shows. */
function download(work: string, folder: string, packages: Unpacking['packages']): void {
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
  const said = run(
    'apt-cache',
    [...aptOptions(work), 'depends', ...only, ...(options?.recurse ? ['--recurse'] : []), name],
    work,
  );
  return [...new Set([...said.matchAll(/^ {2}Depends: (\S+)$/gm)].map(([, found]) => found ?? ''))];
}

function aptOptions(work: string): string[] {
  const options = [`Dir::State::lists=${work}/lists`, `Dir::Cache=${work}`, 'APT::Sandbox::User=', 'Acquire::Languages=none'];
  options.push('Acquire::Retries=1', 'Acquire::http::Timeout=20', 'Acquire::https::Timeout=20');
  return ['-qq', ...options.flatMap((option) => ['-o', option])];
}

function run(command: string, args: string[], cwd: string): string {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (done.status === 0) return done.stdout;
  const said = (done.stderr || done.error?.message || '').trim().split('\n')[0];
  throw new Error(`${command}: ${said || 'failed'}`);
}
