import { isPortFree } from './free-port.ts';
import { type Home, openHome, readRuntimeUrl } from './home.ts';
import { type Lock, takeLock } from './home-lock.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { redisBinaries } from './redis-binaries.ts';
import type { Settings } from './settings.ts';
import { Trouble } from './trouble.ts';

/** Claims the home, or says who has it. */
export async function claimHome(settings: Settings): Promise<{ home: Home; lock: Lock }> {
  if (process.platform === 'win32') throw new Trouble('Tribina does not run on Windows itself.', 'Run it inside WSL 2.');
  const home = openHome(settings.home);
  const lock = await takeLock(home.lock);
  if ('release' in lock) return { home, lock };
  const url = readRuntimeUrl(home);
  throw new Trouble(
    `${home.folder} is in use by process ${lock.heldBy.pid}${url ? ` (${url})` : ''}.`,
    'Stop that one first, or set TRIBINA_HOME, MONOLITH_PORT, QUEUE_PORT and WORKER_PORT to others for a second system.',
  );
}

/** Everything that can be missing is looked for before anything is started. */
export async function checkMachine(settings: Settings, home: Home, say: (line: string) => void): Promise<void> {
  for (const { name, port, portSetting } of settings.services) {
    if (await canListen(port, settings.host, portSetting)) continue;
    throw new Trouble(
      `Port ${port}, which the ${name} needs, is taken.`,
      `Stop what is using it, or set ${portSetting} to another port.`,
    );
  }
  if (!settings.databaseUrl) postgresBinaries(home.postgres);
  if (!settings.redisUrl) redisBinaries(say);
}

async function canListen(port: number, host: string, portSetting: string): Promise<boolean> {
  try {
    return await isPortFree(port, host);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES') throw new Trouble(`Port ${port} is not for ordinary users.`, `Set ${portSetting} to one above 1023.`);
    throw new Trouble(`This machine cannot listen on ${host} (${code}).`, 'Set BIND_HOST to one of its own addresses.');
  }
}
