import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { hasApt, selectLibraries, libraryPathOf, unpackedFolder, unpackFromDebian } from '../../tools/local/debian-packages.ts';

/** The pgbench program: its path, its version, and the environment variables that it needs. */
export interface PgbenchBinary {
  readonly file: string;
  readonly version: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Thrown if the machine has no pgbench, the program that the benchmark compares with. */
export class PgbenchNotAvailable extends Error {}

const UNPACKED = unpackedFolder('pgbench');

/** Looks for pgbench on PATH, then in our unpacked copy, then in Debian's packages. Installs nothing on the system. */
export function pgbenchBinary(say: (line: string) => void): PgbenchBinary {
  const installed = tryOut('pgbench', undefined);
  if (installed) return installed;
  if (!existsSync(UNPACKED)) fetchFromDebian(say);
  const unpacked = unpackedBinary(UNPACKED);
  if (!unpacked) throw new PgbenchNotAvailable(`the pgbench in ${UNPACKED} does not run; remove that folder and try again`);
  return unpacked;
}

function unpackedBinary(root: string): PgbenchBinary | undefined {
  const folder = path.join(root, 'usr/lib/postgresql');
  const [version] = existsSync(folder) ? readdirSync(folder) : [];
  return version === undefined ? undefined : tryOut(path.join(folder, version, 'bin/pgbench'), libraryPathOf(root));
}

function tryOut(file: string, libraryPath: string | undefined): PgbenchBinary | undefined {
  const environment = { PATH: process.env.PATH, LC_ALL: 'C', ...(libraryPath ? { LD_LIBRARY_PATH: libraryPath } : {}) };
  const trial = spawnSync(file, ['--version'], { env: environment, encoding: 'utf8' });
  const [, version] = /pgbench \(PostgreSQL\) (\S+)/.exec(trial.stdout ?? '') ?? [];
  return version ? { file, version, environment } : undefined;
}

/** pgbench is part of the server package. The metapackage `postgresql` names the server package of this Debian release. */
function fetchFromDebian(say: (line: string) => void): void {
  if (!hasApt()) throw new PgbenchNotAvailable('there is no pgbench on this machine, and no apt to fetch it');
  say('fetching pgbench from Debian into .cache (once, about 10 s)');
  try {
    unpackFromDebian({
      into: UNPACKED,
      packages: (dependenciesOf) => {
        const server = dependenciesOf('postgresql').filter((name) => /^postgresql-\d+$/.test(name));
        return [...server, 'libpq5', ...selectLibraries(dependenciesOf('libpq5', { recurse: true }))];
      },
      tryOut: (root) => {
        if (!unpackedBinary(root)) throw new Error('the unpacked pgbench does not run');
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PgbenchNotAvailable(`there is no pgbench on this machine, and Debian's could not be fetched (${reason})`);
  }
}
