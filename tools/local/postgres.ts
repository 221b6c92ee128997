import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { type LocalServer, spawnServer, stopServer, waitUntilReady } from './local-server.ts';
import { type PostgresBinaries, postgresBinaries, postgresEnvironment, runAs } from './postgres-binaries.ts';
import { commandLine, endProcess, identify } from './processes.ts';
import { claimStandIn, isReachable, isRoot, NOBODY } from './public-folder.ts';
import { Trouble } from './trouble.ts';

export interface PostgresOptions {
  /** Where the data, the password and the log live. */
  folder: string;
  port: number;
  /** For tests: no promise to survive a power cut, in exchange for speed. */
  throwaway?: boolean;
  say?: (line: string) => void;
}

const USER = 'tribina';
const DATABASE = 'tribina';

/**
 * max_pred_locks: PostgreSQL turns more than two SERIALIZABLE row locks of a page into a lock on the whole page (the default
 * is 2), and batches of holds then fail for their neighbours' sake: two lanes with 512 callers met 120–160 serialization
 * failures in 3 s with the defaults, 0–3 with these values, at about twice the throughput.
 * Errors that clients provoke (a retried 40001 is everyday life) are for the client's log, hence log_min_messages=log.
 */
const SETTINGS = [
  'max_connections=200',
  'max_pred_locks_per_page=200',
  'max_pred_locks_per_relation=20000',
  'log_min_messages=log',
  'log_line_prefix=%m [%p] ',
  'unix_socket_directories=',
  'listen_addresses=127.0.0.1',
];
const THROWAWAY_SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

export async function startPostgres(options: PostgresOptions): Promise<LocalServer> {
  const { port, throwaway = false, say = () => undefined } = options;
  const binaries = postgresBinaries(options.folder);
  const place = makeDataFolder(options.folder);
  chmodSync(place, 0o711); // Whatever the umask is: nobody must get through to its data, and may not look around.
  const data = path.join(place, 'data');
  const password = readOrMakePassword(place);
  await endOrphan(data, say);
  if (!existsSync(data)) createCluster(binaries, place, password, throwaway, say);
  refuseOtherVersion(binaries, data);

  const server = await launch({ binaries, place, port, throwaway });
  const url = (database: string) => `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
  await ensureDatabase(url('postgres'));
  return { ...server, url: url(DATABASE) };
}

interface Launch {
  readonly binaries: PostgresBinaries;
  readonly place: string;
  readonly port: number;
  readonly throwaway: boolean;
}

/** A server on the data that lies in a place. */
export async function launch({ binaries, place, port, throwaway }: Launch): Promise<Omit<LocalServer, 'url'>> {
  const data = path.join(place, 'data');
  const settings = [...SETTINGS, ...(throwaway ? THROWAWAY_SETTINGS : []), `port=${port}`];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const server = await spawnServer(binaries.postgres, args, path.join(place, 'postgres.log'), {
    ...runAs,
    cwd: '/',
    env: postgresEnvironment,
  });
  await waitUntilReady(server, 'PostgreSQL', async () => saysReady(data, server.identity.pid));
  return {
    port,
    identity: server.identity,
    ended: server.ended,
    // SIGINT: disconnect everybody, checkpoint, leave. SIGQUIT leaves at once and replays its log at the next start.
    stop: () => stopServer(server, 'SIGINT', 'SIGQUIT', 20_000),
  };
}

/** The folder itself, or for root its stand-in where nobody can reach. */
export function makeDataFolder(folder: string): string {
  if (!isReachable(folder)) return claimStandIn(folder);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Made aside and renamed at the end, so that a start killed half-way leaves nothing that looks finished. */
function createCluster(
  binaries: PostgresBinaries,
  place: string,
  password: string,
  throwaway: boolean,
  say: (line: string) => void,
): void {
  say('creating the PostgreSQL data folder');
  const unfinished = path.join(place, 'data.unfinished');
  const passwordFile = path.join(place, 'password.initdb');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (isRoot) for (const item of [unfinished, passwordFile]) chownSync(item, NOBODY.uid, NOBODY.gid);
  const args = ['-D', unfinished, '-U', USER, `--pwfile=${passwordFile}`, '-A', 'scram-sha-256', '-E', 'UTF8'];
  // Encoding and collation are stated, never inherited: sorting must not depend on whose machine made the data.
  args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--lc-messages=C', ...(throwaway ? ['--no-sync'] : []));
  const made = spawnSync(binaries.initdb, args, { ...runAs, cwd: '/', env: postgresEnvironment, encoding: 'utf8' });
  rmSync(passwordFile, { force: true });
  if (made.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    const said = (made.stderr || made.error?.message || '').trim();
    if (said.includes('No space left'))
      throw new Trouble(`No disk space left for ${place}.`, 'Free about 100 MB, or set TRIBINA_HOME elsewhere.');
    throw new Error(`initdb failed:\n${said}`);
  }
  renameSync(unfinished, path.join(place, 'data'));
}

/** A launcher that was killed leaves its server behind; a machine that went down leaves a pid that now is somebody else's. */
async function endOrphan(data: string, say: (line: string) => void): Promise<void> {
  const pidFile = path.join(data, 'postmaster.pid');
  const pid = Number(readLines(pidFile)[0]);
  const identity = identify(pid);
  if (!identity) return; // PostgreSQL itself clears a pid file whose process is gone.
  const command = commandLine(pid);
  if (command.includes(`-D ${data} `)) {
    say(`ending the PostgreSQL left over from before (pid ${pid})`);
    await endProcess(identity, 'SIGINT', 20_000);
  } else if (!command.includes('postgres')) {
    rmSync(pidFile, { force: true });
  }
}

/** The server writes its own state into the eighth line of its pid file; pg_ctl looks there too. */
function saysReady(data: string, pid: number): boolean {
  const lines = readLines(path.join(data, 'postmaster.pid'));
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

function readOrMakePassword(place: string): string {
  const file = path.join(place, 'password');
  const kept = readLines(file)[0];
  if (kept) return kept;
  const password = randomBytes(18).toString('base64url');
  writeFileSync(file, password, { mode: 0o600 });
  return password;
}

function refuseOtherVersion(binaries: PostgresBinaries, data: string): void {
  const made = readLines(path.join(data, 'PG_VERSION'))[0];
  if (made === binaries.major) return;
  throw new Trouble(
    `The data in ${data} was made by PostgreSQL ${made}, and this is PostgreSQL ${binaries.major}.`,
    'Begin afresh with `npm start -- --reset`, or go back to the version that made it.',
  );
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
