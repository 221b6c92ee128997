import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { type LocalServer, spawnServer, waitUntilReady } from './local-server.ts';
import { readText } from './optional-file.ts';
import { readOrMakePassword } from './password.ts';
import { type PostgresBinaries, postgresBinaries, postgresEnvironment, serverUser } from './postgres-binaries.ts';
import { commandLine, endProcess, identify } from './processes.ts';
import { claimPublicFolder, giveToNobody, isOpenToUserNobody } from './public-folder.ts';
import { UserError } from './trouble.ts';

/** Where and how to start a PostgreSQL server. */
export interface PostgresOptions {
  /** The folder for the data, the password and the log. */
  folder: string;
  port: number;
  /** True for tests: the server is faster, but a power cut may lose data. */
  throwaway?: boolean;
  say?: (line: string) => void;
}

/** Owns the schema. `migrate` connects as this user, and creates the other one. */
const USER = 'tribina';
/** The user of the services, with the rights that `migrate` grants. */
const SERVICES_USER = 'tribina_services';
const DATABASE = 'tribina';

/**
 * max_pred_locks: with the default, PostgreSQL turns more than two SERIALIZABLE row locks of a page into a lock on the whole page.
 * Then hold batches fail because of batches for other seats on the same page: two writer connections with 512 callers had 120–160
 * serialization failures in 3 s with the defaults and 0–3 with these values, at about twice the throughput.
 * log_min_messages=log: errors that clients cause are not logged here, because the clients log them (a retried 40001 is normal).
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
/** The databases of all test files stay until the end of the run, and autovacuum would look for work in each of them. */
const THROWAWAY_SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off'];

/** A PostgreSQL server. `url` names the owner of the schema. */
export interface LocalPostgres extends LocalServer {
  readonly servicesUrl: string;
}

/** Starts PostgreSQL on its data folder, which is made if it is missing. */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const { port, throwaway = false, say = () => undefined } = options;
  const binaries = postgresBinaries(options.folder);
  const serverFolder = makeDataFolder(options.folder);
  const dataFolder = path.join(serverFolder, 'data');
  const hasPassword = existsSync(path.join(serverFolder, 'password'));
  const password = readOrMakePassword(serverFolder);
  const servicesPassword = readOrMakePassword(serverFolder, 'password.services');
  await endOrphan(dataFolder, say);
  const isNew = !existsSync(dataFolder);
  if (isNew) {
    say('creating the PostgreSQL data folder');
    createCluster(binaries, serverFolder, password, throwaway);
  }
  refuseOtherVersion(binaries, dataFolder);
  if (!isNew && !hasPassword) replacePassword(binaries, dataFolder, password);

  const server = await launchPostgres(binaries, serverFolder, port, throwaway);
  const url = (database: string) => `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
  await ensureDatabase(url('postgres'));
  const servicesUrl = `postgres://${SERVICES_USER}:${servicesPassword}@127.0.0.1:${port}/${DATABASE}`;
  return { ...server, url: url(DATABASE), servicesUrl };
}

/** Starts a PostgreSQL server on an existing data folder. */
export async function launchPostgres(
  binaries: PostgresBinaries,
  serverFolder: string,
  port: number,
  throwaway: boolean,
): Promise<Omit<LocalServer, 'url'>> {
  const dataFolder = path.join(serverFolder, 'data');
  const settings = [...SETTINGS, ...(throwaway ? THROWAWAY_SETTINGS : []), `port=${port}`];
  const args = ['-D', dataFolder, ...settings.flatMap((setting) => ['-c', setting])];
  const options = { ...serverUser, cwd: '/', env: postgresEnvironment };
  // SIGINT: the server disconnects all clients, writes a checkpoint and exits. SIGQUIT: it exits at once and replays its log later.
  const server = await spawnServer(binaries.postgres, args, path.join(serverFolder, 'postgres.log'), options, [
    'SIGINT',
    'SIGQUIT',
  ]);
  await waitUntilReady(server, 'PostgreSQL', async () => saysReady(dataFolder, server.identity.pid));
  return { ...server, port };
}

/**
 * Makes and returns the folder for the data. If root starts the server and user nobody cannot reach the folder, a folder under
 * /var/tmp is made and returned instead (public-folder.ts).
 */
export function makeDataFolder(folder: string): string {
  const serverFolder = isOpenToUserNobody(folder) ? folder : claimPublicFolder(folder);
  mkdirSync(serverFolder, { recursive: true });
  chmodSync(serverFolder, 0o711); // Independent of the umask: user nobody must be able to enter the folder, but not to list it.
  return serverFolder;
}

/**
 * The data folder is made under another name and renamed at the end, so that a killed start never leaves an incomplete data
 * folder.
 */
function createCluster(binaries: PostgresBinaries, serverFolder: string, password: string, throwaway: boolean): void {
  const unfinished = path.join(serverFolder, 'data.unfinished');
  const passwordFile = path.join(serverFolder, 'password.initdb');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const item of [unfinished, passwordFile]) giveToNobody(item);
  const args = ['-D', unfinished, '-U', USER, `--pwfile=${passwordFile}`, '-A', 'scram-sha-256', '-E', 'UTF8'];
  // Encoding and collation are explicit: the sort order must not depend on the locale of the machine that made the data.
  args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--lc-messages=C', ...(throwaway ? ['--no-sync'] : []));
  const run = spawnSync(binaries.initdb, args, { ...serverUser, cwd: '/', env: postgresEnvironment, encoding: 'utf8' });
  rmSync(passwordFile, { force: true });
  if (run.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    const stderr = (run.stderr || run.error?.message || '').trim();
    if (stderr.includes('No space left'))
      throw new UserError(`No disk space left for ${serverFolder}.`, 'Free about 100 MB, or set TRIBINA_HOME elsewhere.');
    throw new Error(`initdb failed:\n${stderr}`);
  }
  renameSync(unfinished, path.join(serverFolder, 'data'));
}

/** Gives the user of existing data a new password, if the file with the old one is gone. Runs while no server uses the data. */
function replacePassword(binaries: PostgresBinaries, dataFolder: string, password: string): void {
  const run = spawnSync(binaries.postgres, ['--single', '-D', dataFolder, 'postgres'], {
    ...serverUser,
    ...{ cwd: '/', env: postgresEnvironment, encoding: 'utf8' },
    input: `alter role ${USER} password '${password}'\n`,
  });
  if (run.status !== 0) throw new Error(`PostgreSQL did not take a new password:\n${run.stderr || run.error?.message}`);
}

/**
 * Ends the PostgreSQL server that a killed `npm start` left running. After a restart of the machine the pid in the pid file may
 * belong to another process; then only the pid file is removed.
 */
async function endOrphan(dataFolder: string, say: (line: string) => void): Promise<void> {
  const pidFile = path.join(dataFolder, 'postmaster.pid');
  const pid = Number(readLines(pidFile)[0]);
  const identity = identify(pid);
  if (!identity) return; // The process has ended. PostgreSQL removes such a pid file by itself.
  const command = commandLine(pid);
  if (command.includes(`-D ${dataFolder} `)) {
    say(`ending the PostgreSQL of an earlier run (pid ${pid})`);
    await endProcess(identity, 'SIGINT', 20_000);
  } else if (!command.includes('postgres')) {
    rmSync(pidFile, { force: true });
  }
}

/** True if the server is ready. PostgreSQL writes its state into the eighth line of its pid file, where pg_ctl reads it too. */
function saysReady(dataFolder: string, pid: number): boolean {
  const lines = readLines(path.join(dataFolder, 'postmaster.pid'));
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

function refuseOtherVersion(binaries: PostgresBinaries, dataFolder: string): void {
  const madeBy = readLines(path.join(dataFolder, 'PG_VERSION'))[0];
  if (madeBy === binaries.major) return;
  throw new UserError(
    `The data in ${dataFolder} was made by PostgreSQL ${madeBy}, but this is PostgreSQL ${binaries.major}.`,
    'Remove the data with `npm start -- --reset`, or use the version that made it.',
  );
}

function readLines(file: string): string[] {
  return readText(file)?.split('\n') ?? [];
}
