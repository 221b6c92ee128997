import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { hasApt, librariesAmong, libraryPathOf, unpackedFolder, unpackFromDebian } from './debian-packages.ts';
import { Trouble } from './trouble.ts';

export interface RedisBinaries {
  /** Its tools (redis-cli, redis-benchmark) lie beside it. */
  server: string;
  /** Where the unpacked copy keeps its libraries; absent for a Redis of the system. */
  libraryPath?: string;
}

const UNPACKED = unpackedFolder('redis');
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
  return { server: path.join(root, 'usr/bin/redis-server'), libraryPath: libraryPathOf(root) };
}

function fetchFromDebian(say: (line: string) => void): void {
  if (!hasApt()) throw new Trouble('There is no Redis on this machine, and no apt to fetch one with.', INSTALL_HINT);
  say('fetching Redis from Debian into .cache (once, about 3 s)');
  try {
    unpackFromDebian({
      into: UNPACKED,
      packages: (dependenciesOf) => ['redis-server', 'redis-tools', ...librariesAmong(dependenciesOf('redis-tools'))],
      tryOut,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Trouble(`There is no Redis on this machine, and Debian's could not be fetched (${reason}).`, INSTALL_HINT);
  }
}

function tryOut(root: string): void {
  const binaries = unpackedBinaries(root);
  const trial = spawnSync(binaries.server, ['--version'], { env: redisEnvironment(binaries), encoding: 'utf8' });
  if (trial.status !== 0) throw new Error(`the unpacked redis-server does not run: ${trial.stderr || trial.error?.message}`);
}
