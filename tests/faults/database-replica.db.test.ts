import { createLogger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { ReplicaReads } from '#platform/postgres/replica-reads';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import { onServer, startReplicatedServers, type ReplicatedServers } from './replicated-servers.ts';

// Reads from a real streaming replica: which server answers, and what a read sees, while the replica is healthy, late, cut off, dead
// or promoted. The tests ask each server for its port.

let servers: ReplicatedServers;
let dataSource: DataSource;
let reads: ReplicaReads;
let registry: Registry;
let lines: { level: string; msg: string; refusal?: string }[];
const opened: ReplicaReads[] = [];

function openReads(url = servers.toReplica.url): ReplicaReads {
  registry = new Registry();
  lines = [];
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()) as (typeof lines)[number]);
      done();
    },
  });
  const logger = createLogger({ service: 'test', level: 'info', destination });
  const made = new ReplicaReads({ primary: dataSource, url, name: 'test', logger, registry });
  opened.push(made);
  return made;
}

async function metric(name: string): Promise<number> {
  const found = await registry.getSingleMetric(name)?.get();
  return (found?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}

/** Which server answers a read. */
async function whoAnswers(freshness: 'current' | 'recent', from = reads): Promise<'primary' | 'replica'> {
  const [row] = await from.read(freshness, (db) => db.query<[{ port: number }]>('select inet_server_port() as port'));
  return row.port === servers.primary.port ? 'primary' : 'replica';
}

const bothAnswer = async () => [await whoAnswers('current'), await whoAnswers('recent')];
const noteFrom = (freshness: 'current' | 'recent', from = reads) =>
  from.read(freshness, async (db) => (await db.query<[{ note: number }]>('select max(note) as note from notes'))[0].note);
const write = (note: number) => dataSource.query('insert into notes values ($1)', [note]);

/** Measures every second, as the periodic task does, for this time. */
async function measureFor(ms: number, between: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
  for (const endsAt = performance.now() + ms; ; await sleep(Math.min(1000, endsAt - performance.now()))) {
    await between();
    await reads.measure();
    if (performance.now() >= endsAt - 1) return;
  }
}

beforeAll(async () => {
  servers = await startReplicatedServers();
  // A replica that lost its primary tries again after 5 s by default.
  const retry = `alter system set wal_retrieve_retry_interval = '200ms'`;
  await onServer(servers.replica.url, retry, 'select pg_reload_conf()');
  dataSource = await openDatabase({ url: servers.primary.url, name: 'test', poolSize: 8 });
  await dataSource.query('create table notes (note int primary key)');
  await write(0);
}, 60_000);

beforeEach(async () => {
  reads = openReads();
  await waitUntilRead();
});

/** Measures until the replica answers. On a busy machine the first measurement may take too long. */
async function waitUntilRead(): Promise<void> {
  for (const giveUpAt = performance.now() + 20_000; performance.now() < giveUpAt; await sleep(100)) {
    await reads.measure();
    if ((await whoAnswers('current')) === 'replica') return;
  }
  throw new Error('the replica is not read');
}

afterEach(() => Promise.all(opened.splice(0).map((made) => made.close())));

afterAll(async () => {
  await dataSource.destroy();
  await servers.close();
});

const pauseReplay = () => onServer(servers.replica.url, 'select pg_wal_replay_pause()');
const resumeReplay = () => onServer(servers.replica.url, 'select pg_wal_replay_resume()');

test('a read goes to the replica once the replica was measured, and to the primary before', async () => {
  reads = openReads();
  expect(await bothAnswer()).toEqual(['primary', 'primary']);
  expect([await metric('database_replica_reads_total'), await metric('database_replica_fallbacks_total')]).toEqual([0, 2]);
  await waitUntilRead();
  expect(await bothAnswer()).toEqual(['replica', 'replica']);
  expect(await metric('database_replica_reads_total')).toBe(3);
});

test('without a URL every read goes to the primary, and there are no metrics of a replica', async () => {
  const made = new Registry();
  reads = new ReplicaReads({
    primary: dataSource,
    url: undefined,
    name: 'test',
    logger: createLogger({ service: 'test', level: 'silent' }),
    registry: made,
  });
  await reads.measure();
  expect(await bothAnswer()).toEqual(['primary', 'primary']);
  expect(made.getMetricsAsArray()).toEqual([]);
});

test('a current read sees every write that was acknowledged before it, 200 times, and the replica answers many', async () => {
  const [before] = await dataSource.query<[{ note: number }]>('select max(note) as note from notes');
  for (let note = before.note + 1; note <= before.note + 200; note += 1) {
    await write(note);
    expect(await noteFrom('current')).toBe(note);
    if (note % 20 === 0) await reads.measure();
  }
  expect(await metric('database_replica_reads_total')).toBeGreaterThan(20);
});

test('negative control: with a replica that is a moment late, a recent read misses a write that a current read of another process sees', async () => {
  const otherProcess = openReads();
  await otherProcess.measure();
  await pauseReplay();
  try {
    await write(1000);
    expect([(await noteFrom('recent')) < 1000, await whoAnswers('recent')]).toEqual([true, 'replica']);
    expect([await noteFrom('current', otherProcess), await whoAnswers('current', otherProcess)]).toEqual([1000, 'primary']);
  } finally {
    await resumeReplay();
  }
});

test('an idle primary is no lag: after 6 s without a write the replica still answers', async () => {
  await measureFor(6000);
  expect(await bothAnswer()).toEqual(['replica', 'replica']);
  expect(await metric('database_replica_lag_seconds')).toBeLessThan(0.5);
}, 15_000);

test.each([
  ['does not replay, also if it is not measured', pauseReplay, resumeReplay, false],
  ['is cut off from the primary', () => servers.link.refuse(), () => servers.link.restore(), true],
] as const)(
  'a replica that %s is read for at most 5 s, by recent reads only; when it has caught up it is read again',
  async (_what, stop, goOn, isMeasured) => {
    await stop();
    try {
      let note = Date.now() % 1_000_000_000;
      const writeOne = () => write((note += 1));
      await writeOne();
      const writtenAt = performance.now();
      expect(await bothAnswer()).toEqual(['primary', 'replica']);
      await measureFor(3000, writeOne);
      expect(await bothAnswer()).toEqual(['primary', 'replica']);
      const restMs = 5200 - (performance.now() - writtenAt);
      await (isMeasured ? measureFor(restMs, writeOne) : sleep(restMs));
      expect(await bothAnswer()).toEqual(['primary', 'primary']);
      await reads.measure();
      expect(await bothAnswer()).toEqual(['primary', 'primary']);
      expect(await metric('database_replica_lag_seconds')).toBeGreaterThan(5);
      expect(lines.at(-1)).toMatchObject({ level: 'warn', refusal: 'behind' });
    } finally {
      await goOn();
    }
    await waitUntilRead();
    expect(await bothAnswer()).toEqual(['replica', 'replica']);
    expect(await metric('database_replica_lag_seconds')).toBeLessThan(1);
  },
  40_000,
);

describe('a read that the replica does not answer is answered by the primary', () => {
  /** Runs a read and returns who answered it and after how long. */
  async function timed(query = `select inet_server_port() as port`) {
    const begunAt = performance.now();
    const [row] = await reads.read('recent', (db) => db.query<[{ port: number }]>(query));
    return { answeredBy: row.port === servers.primary.port ? 'primary' : 'replica', ms: performance.now() - begunAt };
  }

  afterEach(() => servers.toReplica.restore());

  test('when connections are refused', async () => {
    servers.toReplica.refuse();
    const { answeredBy, ms } = await timed();
    expect(answeredBy).toBe('primary');
    expect(ms).toBeLessThan(1000);
  });

  test('when the network is silent, within 2 s; the next reads do not wait for it', async () => {
    servers.toReplica.silence();
    const first = await timed();
    expect(first.answeredBy).toBe('primary');
    expect(first.ms).toBeLessThan(2000);
    const second = await timed();
    expect(second.answeredBy).toBe('primary');
    expect(second.ms).toBeLessThan(200);
  });

  test('when the connection is cut after the query was sent', async () => {
    const cut = servers.toReplica.setTrap({ whenSent: 'inet_server_port', passOn: true, then: 'cut' });
    expect((await timed()).answeredBy).toBe('primary');
    await cut;
  });

  test('when the query takes longer than 1.2 s there', async () => {
    // The primary is fast: only the replica sleeps.
    const slow = `select inet_server_port() as port, case when pg_is_in_recovery() then pg_sleep(5) end`;
    const { answeredBy, ms } = await timed(slow);
    expect(answeredBy).toBe('primary');
    expect(ms).toBeLessThan(2000);
  });

  test('when the query conflicts with the recovery (40001)', async () => {
    await onServer(servers.replica.url, `alter system set max_standby_streaming_delay = 0`);
    await onServer(servers.replica.url, 'select pg_reload_conf()');
    try {
      await sleep(200);
      await dataSource.query('create table if not exists short_lived (n int)');
      await dataSource.query('insert into short_lived values (1)');
      await sleep(300);
      await reads.measure();
      const states: unknown[] = [];
      const answer = reads.read('recent', async (db) => {
        const rows = await db
          .query<[{ port: number }]>(
            `select inet_server_port() as port, case when pg_is_in_recovery() then pg_sleep(1) end from short_lived
             union all select inet_server_port(), null where not pg_is_in_recovery() limit 1`,
          )
          .catch((error: { driverError?: { code?: string } }) => {
            states.push(error.driverError?.code);
            throw error;
          });
        return rows[0].port;
      });
      await sleep(300);
      // An exclusive lock that is replayed ends the queries that use the table.
      await dataSource.query('truncate short_lived');
      expect(await answer).toBe(servers.primary.port);
      expect(states).toEqual(['40001']);
    } finally {
      await onServer(servers.replica.url, 'alter system reset max_standby_streaming_delay');
      await onServer(servers.replica.url, 'select pg_reload_conf()');
    }
  });

  test('each time one of 40 concurrent reads meets it; the replica is read again after the next measurement', async () => {
    servers.toReplica.refuse();
    const answers = await Promise.all(Array.from({ length: 40 }, () => timed()));
    expect(new Set(answers.map(({ answeredBy }) => answeredBy))).toEqual(new Set(['primary']));
    servers.toReplica.restore();
    expect((await timed()).answeredBy).toBe('primary');
    await waitUntilRead();
    expect((await timed()).answeredBy).toBe('replica');
  });
});

test('an error of the query itself is the error of the primary', async () => {
  await expect(reads.read('current', (db) => db.query('select * from no_such_table'))).rejects.toThrow('no_such_table');
});

test('a replica that is killed is not read; when it runs again it is. The log says so once each time', async () => {
  await servers.killReplica();
  expect(await bothAnswer()).toEqual(['primary', 'primary']);
  await measureFor(2200);
  expect(await bothAnswer()).toEqual(['primary', 'primary']);
  expect(await metric('database_replica_lag_seconds')).toBeGreaterThan(2);
  await servers.startReplica();
  await waitUntilRead();
  expect(await bothAnswer()).toEqual(['replica', 'replica']);
  const ours = lines.filter(({ msg }) => msg.startsWith('the database replica'));
  expect(ours.map(({ level }) => level)).toEqual(['info', 'warn', 'info']);
}, 60_000);

test('a replica that is down when the process starts is read as soon as it answers', async () => {
  servers.toReplica.refuse();
  reads = openReads();
  await reads.measure();
  expect(await bothAnswer()).toEqual(['primary', 'primary']);
  servers.toReplica.restore();
  await waitUntilRead();
  expect(await bothAnswer()).toEqual(['replica', 'replica']);
});

test('a server of another cluster is never read, also if it has no replica of its own', async () => {
  reads = openReads(process.env.TEST_DATABASE_URL);
  await reads.measure();
  expect(await bothAnswer()).toEqual(['primary', 'primary']);
  expect(lines.at(-1)).toMatchObject({ level: 'warn', refusal: 'other cluster' });
});

test('no connection to the replica can write, also after a promotion', async () => {
  const modes = await reads.read('recent', (db) =>
    db.query(`select current_setting('default_transaction_read_only') as mode, pg_is_in_recovery() as replica`),
  );
  expect(modes).toEqual([{ mode: 'on', replica: true }]);
});

// The last test, because the standby does not follow the primary afterwards.
test('a promoted replica is never read: not during the promotion, not before the next measurement, not after it', async () => {
  const otherProcess = openReads();
  await otherProcess.measure();
  expect(await whoAnswers('recent', otherProcess)).toBe('replica');
  reads = openReads();
  await waitUntilRead();
  // The replica is promoted inside the query of a read, after its checks. What the query then reads there is not used.
  const answers: number[] = [];
  const port = await reads.read('current', async (db) => {
    if (answers.length === 0) await onServer(servers.replica.url, 'select pg_promote(true, 30)');
    const [row] = await db.query<[{ port: number }]>('select inet_server_port() as port');
    answers.push(row.port);
    return row.port;
  });
  expect(answers).toEqual([servers.replica.port, servers.primary.port]);
  expect(port).toBe(servers.primary.port);

  // The last measurement of the other process still allows the replica.
  expect([await whoAnswers('recent', otherProcess), await whoAnswers('current', otherProcess)]).toEqual(['primary', 'primary']);
  await onServer(servers.replica.url, 'insert into notes values (2000000000)');
  await measureFor(2000);
  expect([await noteFrom('recent'), await noteFrom('current')].includes(2_000_000_000)).toBe(false);
  expect(lines.at(-1)).toMatchObject({ level: 'warn', refusal: 'promoted' });
  expect(await metric('database_replica_lag_seconds')).toBeGreaterThan(1);
}, 60_000);
