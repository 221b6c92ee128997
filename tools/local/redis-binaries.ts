import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { hasApt, selectLibraries, libraryPathOf, unpackedFolder, unpackFromDebian } from './debian-packages.ts';
import { UserError } from './trouble.ts';

/** Where the Redis programs are. */
export interface RedisBinaries {
  /** The path of redis-server. Its tools (redis-cli, redis-benchmark) are in the same folder. */
  server: string;
  /** LD_LIBRARY_PATH for the unpacked copy; absent if Redis is installed on the system. */
  libraryPath?: string;
}

const UNPACKED = unpackedFolder('redis');
const PROGRAM_NAMES = ['redis-server', 'valkey-server'];
/** The folders of Homebrew, which are often missing from the PATH of a script. */
const HOMEBREW_FOLDERS = ['/opt/homebrew/bin', '/usr/local/bin'];
const INSTALL_HINT =
  'Install one (Debian/Ubuntu `apt-get install redis-server`, macOS `brew install redis`), or set REDIS_URL to your own Redis.';

/**
 * Finds the Redis programs on PATH, else in the project's cache, else downloads Debian packages into the cache. Nothing is
 * installed on the system.
 */
export function redisBinaries(say: (line: string) => void = () => undefined): RedisBinaries {
  const installed = findInstalled();
  if (installed) return { server: installed };
  if (!existsSync(UNPACKED)) fetchFromDebian(say);
  return unpackedBinaries(UNPACKED);
}

/** The environment with which the Redis programs run. */
export function redisEnvironment({ libraryPath }: RedisBinaries): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', ...(libraryPath ? { LD_LIBRARY_PATH: libraryPath } : {}) };
}

function findInstalled(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter).filter(Boolean), ...HOMEBREW_FOLDERS];
  const files = PROGRAM_NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return files.find((file) => existsSync(file) && isNewEnough(file));
}

/** True for Redis 6.2 or newer, which BullMQ needs. Some systems still have Redis 5 or 6.0. */
function isNewEnough(file: string): boolean {
  const version = spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? '';
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2);
}

function unpackedBinaries(root: string): RedisBinaries {
  return { server: path.join(root, 'usr/bin/redis-server'), libraryPath: libraryPathOf(root) };
}

function fetchFromDebian(say: (line: string) => void): void {
  if (!hasApt()) throw new UserError('There is no Redis on this machine, and no apt-get to download it.', INSTALL_HINT);
  say('downloading Redis from Debian into .cache (only once, about 3 s)');
  try {
    unpackFromDebian({
      into: UNPACKED,
      packages: (dependenciesOf) => ['redis-server', 'redis-tools', ...selectLibraries(dependenciesOf('redis-tools'))],
      tryOut,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(
      `There is no Redis on this machine, and it could not be downloaded from Debian (${reason}).`,
      INSTALL_HINT,
    );
  }
}

function tryOut(root: string): void {
  const binaries = unpackedBinaries(root);
  const trial = spawnSync(binaries.server, ['--version'], { env: redisEnvironment(binaries), encoding: 'utf8' });
  if (trial.status !== 0) throw new Error(`the unpacked redis-server does not run: ${trial.stderr || trial.error?.message}`);
}
