import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { LocalServer } from './local-server.ts';
import { launch, makeDataFolder } from './postgres.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { isRoot, NOBODY } from './public-folder.ts';

export interface StandbyOptions {
  /** Where its data will live; whatever is there goes. */
  readonly folder: string;
  readonly port: number;
  readonly throwaway: boolean;
  /** Its folder, on this machine: the data is copied from there while it runs. */
  readonly primaryFolder: string;
  /** How the standby reaches it: a proxy's address, where their network is to be broken. */
  readonly primaryUrl: string;
}

/** What the standby calls itself: in `synchronous_standby_names`, in pg_stat_replication, and its slot. */
export const STANDBY = 'standby';

/** Made anew by every server, or of the one that wrote it. */
const NOT_COPIED = new Set(['postmaster.pid', 'postmaster.opts']);
const EMPTY_AT_FIRST = new Set(['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_subtrans']);

/**
 * A second PostgreSQL that follows a first, for playing failovers. pg_basebackup is not among the binaries that come with
 * `npm ci`; what it does is little: the log from now on is kept (slot), the data is copied while it runs, and the label says
 * from where the log must be read.
 */
export async function startStandby({ folder, port, throwaway, primaryFolder, primaryUrl }: StandbyOptions): Promise<LocalServer> {
  const place = makeDataFolder(folder);
  chmodSync(place, 0o711);
  const data = path.join(place, 'data');
  rmSync(data, { recursive: true, force: true });
  const primary = new pg.Client({ connectionString: primaryUrl });
  await primary.connect();
  try {
    await primary.query(`select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1`, [STANDBY]);
    await primary.query(`select pg_create_physical_replication_slot($1, true)`, [STANDBY]);
    await primary.query(`select pg_backup_start($1, true)`, [STANDBY]);
    copyData(path.join(makeDataFolder(primaryFolder), 'data'), data);
    const { rows } = await primary.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    write(path.join(data, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await primary.end();
  }
  write(path.join(data, 'standby.signal'), '');
  write(path.join(data, 'postgresql.auto.conf'), following(primaryUrl));
  const server = await launch({ binaries: postgresBinaries(folder), place, port, throwaway });
  const url = new URL(primaryUrl);
  url.port = String(port);
  return { ...server, url: url.href };
}

function following(primaryUrl: string): string {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=${STANDBY}`;
  return `primary_conninfo = '${conninfo}'\nprimary_slot_name = '${STANDBY}'\n`;
}

/** Whatever changes meanwhile is in the log, and what vanishes was not needed. */
function copyData(from: string, to: string): void {
  makeFolder(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (NOT_COPIED.has(entry.name)) continue;
    if (EMPTY_AT_FIRST.has(entry.name)) makeFolder(target);
    else if (entry.isDirectory()) copyData(source, target);
    else copyFile(source, target);
  }
}

function copyFile(source: string, target: string): void {
  try {
    copyFileSync(source, target);
    own(target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  own(folder);
}

function write(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  own(file);
}

function own(item: string): void {
  if (isRoot) chownSync(item, NOBODY.uid, NOBODY.gid);
}
