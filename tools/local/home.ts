import { accessSync, chmodSync, constants, existsSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseUrls } from './databases.ts';
import { readJson } from './optional-file.ts';
import { publicFolderOf } from './public-folder.ts';
import { endProcess, isRunning, type ProcessIdentity } from './processes.ts';
import { explainFileError, UserError } from './trouble.ts';

/** The paths in the folder TRIBINA_HOME, in which a running system keeps all its files. */
export type HomePaths = ReturnType<typeof prepareHome>;

/**
 * The contents of `runtime.json`. The CLI, operators and the next start read it. The supervisor is the process of `npm start`,
 * which starts all other processes.
 */
export interface RuntimeFile extends DatabaseUrls {
  supervisor: ProcessIdentity;
  pids: Record<string, number>;
  urls: Record<string, string>;
  /** The same processes as in `pids`, with their start times, so that a reused pid is not mistaken for one of them. */
  processes: Record<string, ProcessIdentity>;
}

/**
 * The start is refused with less free disk space: a new data folder of PostgreSQL needs 60 MB, its first write-ahead log and the
 * demo stadium another 60 MB.
 */
const MIN_FREE_MB = 300;

/** Makes the folder TRIBINA_HOME if it is missing, checks it, and returns its paths. */
export function prepareHome(folder: string) {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    chmodSync(folder, 0o711); // Other users may enter but not list it: if root starts the system, PostgreSQL runs as user nobody.
  } catch (error) {
    throw explainFileError(error, folder);
  }
  const { bavail, bsize } = statfsSync(folder);
  const freeMb = Math.floor((bavail * bsize) / 1_000_000);
  if (freeMb < MIN_FREE_MB) {
    throw new UserError(
      `Only ${freeMb} MB of disk space left for ${folder}, ${MIN_FREE_MB} are needed.`,
      'Free some, or set TRIBINA_HOME to another disk.',
    );
  }
  const inHome = (name: string) => path.join(folder, name);
  return {
    folder,
    postgres: inHome('postgres'),
    redis: inHome('redis'),
    lock: inHome('lock'),
    runtime: inHome('runtime.json'),
    ports: inHome('ports.json'),
  };
}

/**
 * Makes a folder and its parents. The option `recursive` of mkdir is not used, because under /proc and similar paths it never
 * returns (Node 24.21).
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (!existsSync(path.dirname(folder))) makeFolder(path.dirname(folder));
  mkdirSync(folder);
}

/**
 * Removes the data of an earlier run. Only our own files are removed, by name, because TRIBINA_HOME may be a folder with other
 * files.
 */
export function clearHome(home: HomePaths): void {
  for (const item of [home.postgres, home.redis, home.ports, publicFolderOf(home.postgres)])
    rmSync(item, { recursive: true, force: true });
}

/**
 * Ends services that an earlier `npm start` left running because it was killed. PostgreSQL and Redis of that run are ended by
 * startPostgres and startRedis.
 */
export async function endLeftovers(home: HomePaths, say: (line: string) => void): Promise<void> {
  const runtime = readJson<RuntimeFile>(home.runtime);
  const leftovers = Object.entries(runtime?.processes ?? {}).filter(
    ([name, identity]) => !['postgres', 'redis'].includes(name) && isRunning(identity),
  );
  await Promise.all(
    leftovers.map(async ([name, identity]) => {
      say(`ending the ${name} of an earlier run (pid ${identity.pid})`);
      await endProcess(identity, 'SIGTERM', 20_000);
    }),
  );
  rmSync(home.runtime, { force: true });
}

/** Writes runtime.json, which says which processes run and at which URLs. */
export function writeRuntime(home: HomePaths, runtime: RuntimeFile): void {
  writeJson(home.runtime, runtime);
}

/** The ports that PostgreSQL and Redis used in the previous run of `npm start`. */
export function readPorts(home: HomePaths): { postgres?: number; redis?: number } {
  return readJson(home.ports) ?? {};
}

/** Saves the ports of PostgreSQL and Redis for the next run. */
export function rememberPorts(home: HomePaths, ports: { postgres?: number; redis?: number }): void {
  writeJson(home.ports, { ...readPorts(home), ...ports });
}

/**
 * Writes a new file and renames it, so that readers never see an incomplete file. Its mode is 0600, because the file has
 * passwords.
 */
function writeJson(file: string, value: unknown): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
}
