import { isPortFree } from './free-port.ts';
import { type HomePaths, prepareHome, type RuntimeFile } from './home.ts';
import { type LockFile, takeLock } from './home-lock.ts';
import { readJson } from './optional-file.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { redisBinaries } from './redis-binaries.ts';
import type { Settings } from './settings.ts';
import { UserError } from './trouble.ts';

/** Takes the lock of the folder TRIBINA_HOME. Throws an error with the owner's pid if another running system uses the folder. */
export async function claimHome(settings: Settings): Promise<{ home: HomePaths; lock: LockFile }> {
  if (process.platform === 'win32') throw new UserError('Tribina does not run on Windows itself.', 'Run it inside WSL 2.');
  const home = prepareHome(settings.home);
  const lock = await takeLock(home.lock);
  if ('release' in lock) return { home, lock };
  const url = readJson<RuntimeFile>(home.runtime)?.urls.web;
  throw new UserError(
    `${home.folder} is in use by process ${lock.heldBy.pid}${url ? ` (${url})` : ''}.`,
    'Stop that process first, or for a second system set TRIBINA_HOME, MONOLITH_PORT, QUEUE_PORT and WORKER_PORT to other values.',
  );
}

/** Checks, before anything is started, that the ports are free and the programs of PostgreSQL and Redis are present. */
export async function checkMachine(settings: Settings, home: HomePaths, say: (line: string) => void): Promise<void> {
  for (const { name, port, portSetting, inspectorPort } of settings.services) {
    if (!(await canListen(port, settings.host, portSetting))) throw taken(port, name, `set ${portSetting} to another port`);
    if (inspectorPort && !(await isPortFree(inspectorPort)))
      throw taken(inspectorPort, `inspector of the ${name}`, `give another port: --inspect ${name}:<port>`);
  }
  if (!settings.databaseUrl) postgresBinaries(home.postgres);
  if (!settings.redisUrl) redisBinaries(say);
}

function taken(port: number, user: string, wayOut: string): UserError {
  return new UserError(`Port ${port}, which the ${user} needs, is taken.`, `Stop what is using it, or ${wayOut}.`);
}

async function canListen(port: number, host: string, portSetting: string): Promise<boolean> {
  try {
    return await isPortFree(port, host);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES') throw new UserError(`Port ${port} needs special rights.`, `Set ${portSetting} to a port above 1023.`);
    throw new UserError(`This machine cannot listen on ${host} (${code}).`, 'Set BIND_HOST to one of its own addresses.');
  }
}
