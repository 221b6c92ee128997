import { toProblem } from '#platform/http/problem';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { TcpProxy } from '#testing/tcp-proxy';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { WriterConnection } from '../../apps/monolith/src/purchase/hold/outbound/writer-connection.ts';
import { startOnFreePort } from '../../tools/local/free-port.ts';
import type { LocalServer } from '../../tools/local/local-server.ts';
import { startPostgres } from '../../tools/local/postgres.ts';
import { startStandby } from '../../tools/local/standby.ts';

// PostgreSQL dies while the COMMIT of a transaction is on its way, before it has written the log of the transaction. After the restart,
// or on the promoted standby, another transaction gets the same transaction id. The status of the id is then the outcome of that other
// transaction, so our code must report OUTCOME_UNKNOWN.

const folder = mkdtempSync(path.join(tmpdir(), 'tribina-dead-'));
chmodSync(folder, 0o711);
const servers: LocalServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function stopAtEnd(starting: Promise<LocalServer>): Promise<LocalServer> {
  const server = await starting;
  servers.push(server);
  return server;
}

async function query<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function primaryIn(name: string): Promise<LocalServer> {
  const primary = await stopAtEnd(startOnFreePort(undefined, (port) => startPostgres({ folder: path.join(folder, name), port })));
  await query(primary.url, 'create table effects (run int); create table other_inserts (n int)');
  return primary;
}

/** Runs a transaction and kills its server before COMMIT arrives. `successor` starts the server that then serves at the same address. */
async function outcomeAfter(
  primary: LocalServer,
  successor: () => Promise<LocalServer>,
  killed: 'all' | 'one process' = 'all',
): Promise<unknown> {
  const proxy = await TcpProxy.inFrontOf(primary.url);
  const database = await openDatabase({ url: proxy.url, name: 'dead', poolSize: 2 });
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 20_000 });
  try {
    await database.query('select 1');
    const commitSent = proxy.setTrap({ whenSent: 'COMMIT\0', passOn: false, then: 'wait' });
    let id = '';
    const outcome = transactions
      .run(async (tx) => {
        const [row] = await inside(tx).rows<{ id: string }>('select pg_current_xact_id()::text as id');
        id = row?.id ?? '';
        await inside(tx).rows('insert into effects values (1)');
        return 'done';
      })
      .catch((error: unknown) => error);
    await commitSent;
    await (killed === 'all' ? killServer(primary) : killOneProcess(primary));
    const next = await successor();
    await useTransactionIdsUpTo(BigInt(id), next.url);
    proxy.redirectTo(next.url);
    const result = await outcome;
    return { result, effects: await query(next.url, 'select * from effects') };
  } finally {
    await database.destroy();
    await proxy.close();
  }
}

async function killServer(server: LocalServer): Promise<void> {
  process.kill(server.identity.pid, 'SIGKILL');
  await server.ended;
}

/** Kills one backend process. Resolves when the server has recovered and accepts connections again. */
async function killOneProcess({ url }: LocalServer): Promise<void> {
  const [row] = await query<{ pid: number; crashes: string }>(
    url,
    `select pid, (select stats_reset::text from pg_stat_bgwriter) as crashes from pg_stat_activity where application_name = 'tribina-dead'`,
  );
  process.kill(row?.pid ?? 0, 'SIGKILL');
  for (let crashes = row?.crashes; crashes === row?.crashes;) {
    const rows = await query<{ crashes: string }>(url, 'select stats_reset::text as crashes from pg_stat_bgwriter').catch(
      () => [],
    );
    crashes = rows[0]?.crashes ?? crashes;
  }
}

/** Runs other transactions until they have used all transaction ids up to `last`. */
async function useTransactionIdsUpTo(last: bigint, url: string): Promise<void> {
  for (let id = 0n; id < last;) {
    const [row] = await query<{ id: string }>(
      url,
      'insert into other_inserts values (1) returning pg_current_xact_id()::text as id',
    );
    id = BigInt(row?.id ?? last);
  }
}

/** The error codes that a transaction and a hold get when they write to a read-only server. */
async function readOnlyErrorCodes(url: string): Promise<unknown[]> {
  const database = await openDatabase({ url, name: 'standby', poolSize: 1 });
  const writerConnection = new WriterConnection({ url, name: 'holds', settings: '', onRetry: () => undefined });
  const codeOf = (error: unknown): string => toProblem(error, 'request').code;
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 5000 });
  const insert = { name: 'insert', text: 'insert into effects values (1)', values: [] };
  try {
    return [
      await transactions.run((tx) => inside(tx).rows(insert.text)).catch(codeOf),
      await writerConnection.commit(insert, () => Promise.resolve(undefined)).catch(codeOf),
    ];
  } finally {
    await writerConnection.close();
    await database.destroy();
  }
}

const unknown = { result: expect.objectContaining({ code: 'OUTCOME_UNKNOWN' }), effects: [] };

test('a commit whose server died and was restarted is OUTCOME_UNKNOWN, and does not get the outcome of another transaction with the same id', async () => {
  const primary = await primaryIn('restarted');
  const restart = (): Promise<LocalServer> =>
    stopAtEnd(startPostgres({ folder: path.join(folder, 'restarted'), port: primary.port }));
  expect(await outcomeAfter(primary, restart)).toEqual(unknown);
});

test('a commit whose server recovers by itself after one of its processes was killed is OUTCOME_UNKNOWN', async () => {
  const primary = await primaryIn('recovered');
  expect(await outcomeAfter(primary, () => Promise.resolve(primary), 'one process')).toEqual(unknown);
});

test('a commit whose server died and was replaced by its standby is OUTCOME_UNKNOWN, and does not get the outcome of another transaction with the same id', async () => {
  const primary = await primaryIn('followed');
  const replication = await TcpProxy.inFrontOf(primary.url);
  const options = { folder: path.join(folder, 'standby'), primaryFolder: path.join(folder, 'followed'), throwaway: false };
  const standby = await stopAtEnd(
    startOnFreePort(undefined, (port) => startStandby({ ...options, primaryUrl: replication.url, port })),
  );
  for (let lag = 1; lag > 0;)
    lag = (await query(primary.url, 'select 1 from pg_stat_replication where replay_lsn = pg_current_wal_lsn()')).length ? 0 : 1;
  replication.silence();
  const promoted = async (): Promise<LocalServer> => {
    expect(await readOnlyErrorCodes(standby.url)).toEqual(['DEPENDENCY_UNAVAILABLE', 'DEPENDENCY_UNAVAILABLE']);
    await query(standby.url, 'select pg_promote()');
    return standby;
  };
  expect(await outcomeAfter(primary, promoted)).toEqual(unknown);
  await replication.close();
});
