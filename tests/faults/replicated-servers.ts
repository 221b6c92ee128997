import { TcpProxy } from '#testing/tcp-proxy';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startOnFreePort } from '../../tools/local/free-port.ts';
import type { LocalServer } from '../../tools/local/local-server.ts';
import { startPostgres } from '../../tools/local/postgres.ts';
import { startStandby } from '../../tools/local/standby.ts';

/** A PostgreSQL with a streaming replica, for tests that cut, kill or promote the replica. */
export interface ReplicatedServers {
  readonly primary: LocalServer;
  readonly replica: LocalServer;
  /** The replica's connection to the primary. */
  readonly link: TcpProxy;
  /** The connections of the readers to the replica. */
  readonly toReplica: TcpProxy;
  killReplica(): Promise<void>;
  /** Makes the replica anew from the primary's data, at the same address. */
  startReplica(): Promise<void>;
  close(): Promise<void>;
}

/** Runs statements on a server, on a connection of their own. */
export async function onServer<T extends pg.QueryResultRow>(url: string, ...statements: string[]): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: T[] = [];
    for (const statement of statements) rows = (await client.query<T>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

export async function startReplicatedServers(): Promise<ReplicatedServers> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-replica-'));
  chmodSync(folder, 0o711);
  const folders = { folder: path.join(folder, 'replica'), primaryFolder: path.join(folder, 'primary') };
  const primary = await startOnFreePort(undefined, (port) => startPostgres({ folder: folders.primaryFolder, port }));
  const link = await TcpProxy.inFrontOf(primary.url);
  const startOn = (port: number) => startStandby({ ...folders, primaryUrl: link.url, port, throwaway: false });
  let replica = await startOnFreePort(undefined, startOn);
  const toReplica = await TcpProxy.inFrontOf(replica.url);
  return {
    primary,
    get replica() {
      return replica;
    },
    link,
    toReplica,
    async killReplica() {
      process.kill(replica.identity.pid, 'SIGKILL');
      await replica.ended;
    },
    async startReplica() {
      replica = await startOn(replica.port).then((started) => ({ ...started, url: replica.url }));
    },
    async close() {
      await Promise.all([link.close(), toReplica.close()]);
      await replica.stop();
      await primary.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
