import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { LocalServer } from './local-server.ts';
import { launchPostgres, makeDataFolder } from './postgres.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { giveToNobody } from './public-folder.ts';

/** The primary, and where to start its standby. */
export interface StandbyOptions {
  /** The folder for the standby's data. Existing data in it is removed. */
  readonly folder: string;
  readonly port: number;
  readonly throwaway: boolean;
  /** The primary's folder on this machine. The data is copied from it while the primary runs. */
  readonly primaryFolder: string;
  /** The URL at which the standby reaches the primary. Tests that break their connection give the URL of a proxy. */
  readonly primaryUrl: string;
}

/** The standby's name in `synchronous_standby_names` and pg_stat_replication, and the name of its replication slot. */
export const STANDBY_NAME = 'standby';

/** Files that are not copied, because they belong to the running primary. */
const EXCLUDED_FILES = new Set(['postmaster.pid', 'postmaster.opts']);
/** Folders that are made empty instead of copied, because each server makes their contents itself. */
const EMPTY_FOLDERS = new Set(['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_subtrans']);

/**
 * Starts a second PostgreSQL that replicates a first one, for tests of a failover. pg_basebackup is not among the binaries that
 * `npm ci` installs, so this function does its work: a replication slot keeps the primary's log from now on, the data is copied while
 * the primary runs, and the backup label tells the standby where to start reading the log.
 */
export async function startStandby({ folder, port, throwaway, primaryFolder, primaryUrl }: StandbyOptions): Promise<LocalServer> {
  const serverFolder = makeDataFolder(folder);
  const dataFolder = path.join(serverFolder, 'data');
  rmSync(dataFolder, { recursive: true, force: true });
  const primary = new pg.Client({ connectionString: primaryUrl });
  await primary.connect();
  try {
    await primary.query(`select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1`, [
      STANDBY_NAME,
    ]);
    await primary.query(`select pg_create_physical_replication_slot($1, true)`, [STANDBY_NAME]);
    await primary.query(`select pg_backup_start($1, true)`, [STANDBY_NAME]);
    copyData(path.join(makeDataFolder(primaryFolder), 'data'), dataFolder);
    const { rows } = await primary.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    writeFile(path.join(dataFolder, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await primary.end();
  }
  writeFile(path.join(dataFolder, 'standby.signal'), '');
  writeFile(path.join(dataFolder, 'postgresql.auto.conf'), replicationSettings(primaryUrl));
  const server = await launchPostgres(postgresBinaries(folder), serverFolder, port, throwaway);
  const url = new URL(primaryUrl);
  url.port = String(port);
  return { ...server, url: url.href };
}

function replicationSettings(primaryUrl: string): string {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=${STANDBY_NAME}`;
  return `primary_conninfo = '${conninfo}'\nprimary_slot_name = '${STANDBY_NAME}'\n`;
}

/**
 * Copies the data of a running server. Changes during the copy are in the server's log, which the standby replays. A file that
 * disappears during the copy is not needed.
 */
function copyData(from: string, to: string): void {
  makeFolder(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (EXCLUDED_FILES.has(entry.name)) continue;
    if (EMPTY_FOLDERS.has(entry.name)) makeFolder(target);
    else if (entry.isDirectory()) copyData(source, target);
    else copyFile(source, target);
  }
}

function copyFile(source: string, target: string): void {
  try {
    copyFileSync(source, target);
    giveToNobody(target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  giveToNobody(folder);
}

function writeFile(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  giveToNobody(file);
}
