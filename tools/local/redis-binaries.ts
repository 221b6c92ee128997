import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Trouble } from './trouble.ts';

export interface RedisBinaries {
  /** Its tools (redis-cli, redis-benchmark) lie beside it. */
  server: string;
  /** Where the unpacked copy keeps its libraries; absent for a Redis of the system. */
  libraryPath?: string;
}

const CACHE = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../.cache');
const UNPACKED = path.join(CACHE, `redis-${process.platform}-${process.arch}`);
const ON_PATH = ['redis-server', 'valkey-server'];
/** Homebrew's folders are often missing from the PATH of a script. */
const USUAL_FOLDERS = ['/opt/homebrew/bin', '/usr/local/bin'];
const INSTALL_HINT =
  'Install one (Debian/Ubuntu `apt-get install redis-server`, macOS `brew install redis`), or set REDIS_URL to a Redis of your own.';

/** On PATH first, then our unpacked copy, then Debian's packages unpacked into the project's cache: the system stays untouched. */
export function redisBinaries(say: (line: string) => void = () => undefined): RedisBinaries {
  const installed = findInstalled();
  if (installed) return { server: installed };
  if (!existsSync(UNPACKED)) fetchFromDebian(say);
  return unpackedBinaries(UNPACKED);
}

export function redisEnvironment({ libraryPath }: RedisBinaries): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', ...(libraryPath ? { LD_LIBRARY_PATH: libraryPath } : {}) };
}

function findInstalled(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter).filter(Boolean), ...USUAL_FOLDERS];
  for (const name of ON_PATH) {
    for (const folder of folders) {
      const file = path.join(folder, name);
      if (existsSync(file) && isNewEnough(file)) return file;
    }
  }
  return undefined;
}

/** BullMQ asks for 6.2 or newer; a system may still carry a Redis 5 or 6.0. */
function isNewEnough(file: string): boolean {
  const said = spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? '';
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(said) ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2);
}

function unpackedBinaries(root: string): RedisBinaries {
  const libraries = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.so(\.|$)/.test(file));
  const folders = new Set(libraries.map((file) => path.dirname(path.join(root, file))));
  return { server: path.join(root, 'usr/bin/redis-server'), libraryPath: [...folders].join(path.delimiter) };
}

function fetchFromDebian(say: (line: string) => void): void {
  if (spawnSync('apt-get', ['--version']).status !== 0 || spawnSync('dpkg-deb', ['--version']).status !== 0) {
    throw new Trouble('There is no Redis on this machine, and no apt to fetch one with.', INSTALL_HINT);
  }
  say('fetching Redis from Debian into .cache (once, about 3 s)');
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(path.join(CACHE, 'redis-fetch-'));
  try {
    const root = path.join(work, 'root');
    for (const folder of ['lists/partial', 'archives/partial', 'packages', 'root'])
      mkdirSync(path.join(work, folder), { recursive: true });
    const packages = path.join(work, 'packages');
    download(work, packages);
    for (const file of readdirSync(packages)) run('dpkg-deb', ['-x', path.join(packages, file), root], work);
    const server = unpackedBinaries(root);
    const trial = spawnSync(server.server, ['--version'], { env: redisEnvironment(server), encoding: 'utf8' });
    if (trial.status !== 0) throw new Error(`the unpacked redis-server does not run: ${trial.stderr || trial.error?.message}`);
    // Two starts may fetch at the same time; whoever comes second finds the place taken by an equal copy.
    if (!existsSync(UNPACKED)) renameSync(root, UNPACKED);
  } catch (error) {
    if (existsSync(UNPACKED)) return;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Trouble(`There is no Redis on this machine, and Debian's could not be fetched (${reason}).`, INSTALL_HINT);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Direct dependencies only, and none that every Debian has: a second libc would fight with the first. Their names differ
 * from release to release (libssl3, libssl3t64), so the package is asked.
 */
function neededLibraries(work: string): string[] {
  const said = run('apt-cache', [...aptOptions(work), 'depends', '--no-recommends', '--no-suggests', 'redis-tools'], work);
  const names = [...said.matchAll(/^ {2}Depends: (\S+)$/gm)].map(([, name]) => name ?? '');
  return names.filter((name) => name.startsWith('lib') && !['libc6', 'libsystemd0', 'libgcc-s1', 'libstdc++6'].includes(name));
}

/** `update` ends with an error as soon as one of several sources is unreachable; whether that matters the download shows. */
function download(work: string, folder: string): void {
  let reason: unknown;
  try {
    run('apt-get', [...aptOptions(work), '-o', 'APT::Update::Error-Mode=any', 'update'], folder);
  } catch (error) {
    reason = error;
  }
  try {
    run('apt-get', [...aptOptions(work), 'download', 'redis-server', 'redis-tools', ...neededLibraries(work)], folder);
  } catch (error) {
    throw reason ?? error;
  }
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
