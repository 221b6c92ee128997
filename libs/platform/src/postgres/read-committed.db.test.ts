import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { JobLedger } from '#messaging/jobs/job-ledger';
import { createLogger } from '../logging/logger.ts';
import type { Destination } from '#messaging/outbox/destination';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { openDatabase } from './database.ts';
import { runReadCommitted } from './read-committed.ts';

// Tests of transactions at READ COMMITTED: work that moves or deletes rows and decides nothing (docs/concepts/overselling.md),
// namely the relay and the purge of jobs. The expiry sweeper and the retention job have their own tests.

let testDatabase: TestDatabase;
let database: DataSource;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  // An operator may have changed the default isolation level.
  const options = encodeURIComponent('-c default_transaction_isolation=serializable');
  database = await openDatabase({ url: `${testDatabase.url}?options=${options}`, name: 'moving-rows-test', poolSize: 4 });
  await database.query(`create table recorded_settings as ${SETTINGS} limit 0`);
  await database.query(`create function record_settings() returns trigger language plpgsql as $$ begin
    insert into recorded_settings ${SETTINGS};
    return coalesce(new, old);
  end $$`);
});
afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

const SETTINGS = `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock_timeout`;

const allDelivered: Destination = {
  name: 'email',
  batchSize: 1000,
  refusesStale: true,
  deliver: (messages) => Promise.resolve(messages.map(({ id }) => ({ id, outcome: 'delivered' as const }))),
};
const relay = (): OutboxRelay => new OutboxRelay(database, allDelivered, createLogger({ service: 'test', level: 'silent' }));

/** One kind of work that moves or deletes rows, with rows to try it on. */
interface Mover {
  readonly name: string;
  readonly table: string;
  readonly key: string;
  /** SQL that inserts three rows which the work will move or delete. */
  readonly insertRows: string;
  run(): Promise<number>;
}

const movers: Mover[] = [
  {
    name: 'the relay',
    table: 'outbox',
    key: 'id',
    insertRows: `insert into outbox (id, destination, event, body) select gen_random_uuid(), 'email', 'e', '{}' from generate_series(1, 3)`,
    run: () => relay().runOnce(),
  },
  {
    name: 'the relay with `force`, which sends messages that were parked for their age,',
    table: 'outbox',
    key: 'id',
    insertRows: `insert into outbox (id, destination, event, body, created_at, parked_at, last_error)
           select gen_random_uuid(), 'email', 'e', '{}', now() - interval '8 days', now(), 'older than 7 days: outbox:consume --force sends it'
           from generate_series(1, 3)`,
    run: () => relay().runOnce(1000, { force: true }),
  },
  {
    name: 'the purge of finished jobs',
    table: 'jobs',
    key: 'id',
    insertRows: `insert into jobs (id, class, message, done_at)
           select gen_random_uuid(), 'c', '{}', now() - interval '2 hours' from generate_series(1, 3)`,
    run: () => new JobLedger(database).purgeOnce(),
  },
];

test.each(movers)('$name skips a row that is locked and handles the other two rows', async ({ table, key, insertRows, run }) => {
  await database.query(`truncate ${table} cascade`);
  await database.query(insertRows);
  const holder = database.createQueryRunner();
  await holder.startTransaction();
  const [locked] = (await holder.query(`select ${key}::text as id from ${table} limit 1 for update`)) as { id: string }[];
  const timeout = new Promise<string>((resolve) => setTimeout(() => resolve('waits'), 5000).unref());
  const moved = await Promise.race([run(), timeout]);
  const remaining = await database.query(`select ${key}::text as id from ${table}`);
  await holder.rollbackTransaction();
  await holder.release();
  expect([moved, remaining]).toEqual([2, [locked]]);
  expect(await run()).toBe(1);
});

test.each(movers)(
  '$name runs at READ COMMITTED with a lock timeout of 8 s, even if the default isolation is SERIALIZABLE',
  async ({ table, insertRows, run }) => {
    await database.query(`truncate ${table} cascade`);
    await database.query(insertRows);
    await database.query('truncate recorded_settings');
    await database.query(`create trigger recording before delete on ${table} for each row execute function record_settings()`);
    expect(await run()).toBe(3);
    await database.query(`drop trigger recording on ${table}`);
    expect(await database.query('select distinct isolation, lock_timeout from recorded_settings')).toEqual([
      { isolation: 'read committed', lock_timeout: '8s' },
    ]);
  },
);

test('runReadCommitted: an error in the block rolls everything back, and the connection can be used again', async () => {
  await database.query('truncate jobs');
  await database.query(movers.find(({ table }) => table === 'jobs')?.insertRows ?? '');
  const failing = runReadCommitted(database, async (tx) => {
    await tx.query('delete from jobs', []);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await database.query('select count(*)::int as n from jobs')).toEqual([{ n: 3 }]);
  expect(await runReadCommitted(database, async (tx) => (await tx.query('delete from jobs', [])).rowCount)).toBe(3);
});
