import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { publicStandIn } from './public-folder.ts';
import { endProcess, isRunning, type ProcessIdentity } from './processes.ts';
import { fileTrouble, Trouble } from './trouble.ts';

/** The folder (TRIBINA_HOME) everything a running system keeps lies in. */
export interface Home {
  folder: string;
  postgres: string;
  redis: string;
  lock: string;
  runtime: string;
  ports: string;
}

/** What `runtime.json` tells the CLI, operators and the next start. */
export interface Runtime {
  supervisor: ProcessIdentity;
  pids: Record<string, number>;
  urls: Record<string, string>;
  DATABASE_URL: string;
  REDIS_URL: string;
  /** The same processes as in `pids`, named so that a recycled pid is not mistaken for one of them. */
  processes: Record<string, ProcessIdentity>;
}

/** A fresh data folder takes 60 MB, its first write-ahead log and the demo stadium as much again. */
const NEEDED_MB = 300;

export function openHome(folder: string): Home {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    chmodSync(folder, 0o711); // Others may pass through (root's PostgreSQL runs as nobody), not look around.
  } catch (error) {
    throw fileTrouble(error, folder);
  }
  const { bavail, bsize } = statfsSync(folder);
  const freeMb = Math.floor((bavail * bsize) / 1_000_000);
  if (freeMb < NEEDED_MB) {
    throw new Trouble(
      `Only ${freeMb} MB of disk space left for ${folder}, ${NEEDED_MB} are needed.`,
      'Free some, or set TRIBINA_HOME to another disk.',
    );
  }
  const inside = (name: string) => path.join(folder, name);
  return {
    folder,
    postgres: inside('postgres'),
    redis: inside('redis'),
    lock: inside('lock'),
    runtime: inside('runtime.json'),
    ports: inside('ports.json'),
  };
}

/** Not mkdir's own `recursive`: under /proc and its like that never comes back (Node 24.21). */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (!existsSync(path.dirname(folder))) makeFolder(path.dirname(folder));
  mkdirSync(folder);
}

/** Only what we put there, by name: TRIBINA_HOME may point to a folder that holds other things too. */
export function emptyHome(home: Home): void {
  for (const item of [home.postgres, home.redis, home.ports, publicStandIn(home.postgres)])
    rmSync(item, { recursive: true, force: true });
}

/** A supervisor that was killed leaves its services behind. PostgreSQL and Redis look for their own predecessor. */
export async function endLeftovers(home: Home, say: (line: string) => void): Promise<void> {
  const runtime = readJson<Runtime>(home.runtime);
  const left = Object.entries(runtime?.processes ?? {}).filter(([name, identity]) => isService(name) && isRunning(identity));
  await Promise.all(
    left.map(async ([name, identity]) => {
      say(`ending the ${name} left over from before (pid ${identity.pid})`);
      await endProcess(identity, 'SIGTERM', 20_000);
    }),
  );
  rmSync(home.runtime, { force: true });
}

export function readRuntimeUrl(home: Home): string | undefined {
  return readJson<Runtime>(home.runtime)?.urls.web;
}

export function writeRuntime(home: Home, runtime: Runtime): void {
  writeJson(home.runtime, runtime);
}

export function removeRuntime(home: Home): void {
  rmSync(home.runtime, { force: true });
}

export function readPorts(home: Home): { postgres?: number; redis?: number } {
  return readJson(home.ports) ?? {};
}

export function rememberPorts(home: Home, ports: { postgres?: number; redis?: number }): void {
  writeJson(home.ports, { ...readPorts(home), ...ports });
}

function isService(name: string): boolean {
  return name !== 'postgres' && name !== 'redis';
}

/** Renamed into place: nobody ever reads half a file. It holds passwords, hence the mode. */
function writeJson(file: string, value: unknown): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
}

function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
