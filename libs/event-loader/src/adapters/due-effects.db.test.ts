import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { openDatabase } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import { createLogger } from '#platform/logging/logger';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { MemoryLocks } from '../testing/memory-parts.ts';
import { DueEffects, type Consumer, type RunStatement } from './due-effects.ts';
import { openLoaderPools, type LoaderPools } from './postgres-event-store.ts';
import { readStatus } from './loader-status.ts';

// Each loaded event has its effect once. The consumer of these tests only counts each event in a table.

let database: TestDatabase;
let dataSource: DataSource;
let pools: LoaderPools;
let transactions: PostgresTransactionManager;
const logger = createLogger({ service: 'test', level: 'silent' });

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await openDatabase({ url: database.url, name: 'test', poolSize: 8 });
  pools = openLoaderPools(database.url);
  transactions = new PostgresTransactionManager(dataSource, { deadlineMs: 20_000 });
  await pools.reads.query('create table counted (event_id text not null)');
});
afterAll(async () => {
  await Promise.all([pools.close(), dataSource.destroy()]);
  await database.close();
});
const run: RunStatement = async <Row>(text: string, values: unknown[]) => (await pools.reads.query(text, values)).rows as Row[];
beforeEach(() => pools.reads.query('truncate loaded_events, loaded_events_due, loaded_conflicts, counted, loader_sources'));

async function storeDueEvents(count: number, feeds = 'counting'): Promise<void> {
  await pools.reads.query(`insert into loader_sources (source) values ('gate')`);
  await pools.reads.query(
    `insert into loaded_events (source, event_id, payload) select 'gate', n::text, jsonb_build_object('n', n) from generate_series(1, $1) n`,
    [count],
  );
  await pools.reads.query(
    `insert into loaded_events_due (source, event_id, feeds) select 'gate', n::text, $2 from generate_series(1, $1) n`,
    [count, feeds],
  );
}

/**
 * A consumer that counts each event in the transaction that deletes the event from the table of due events. `skipsDueCheck`: a
 * negative control that does not check whether the event is still due.
 */
function counting(options: { skipsDueCheck?: boolean; crashOn?: number } = {}): Consumer {
  return {
    isFinal: (error) => (error as Error).message === 'no such event',
    async act(payload, effect) {
      const { n } = payload as { n: number };
      if (n < 0) throw new Error('no such event');
      return transactions.run(async (tx) => {
        const isDue = await effect.begin(tx);
        if (!isDue && !options.skipsDueCheck) return { conflicts: [] };
        await inside(tx).rows('insert into counted values ($1)', [String(n)]);
        await effect.end(tx, { conflicts: [] });
        if (n === options.crashOn) throw new Error('crashed before the commit');
        return { conflicts: [] };
      });
    },
  };
}

/**
 * Four loaders handle the due events at the same time, without a lock between them: only the database prevents a second effect.
 */
async function actInFourLoaders(consumer: Consumer): Promise<void> {
  const effects = Array.from(
    { length: 4 },
    () => new DueEffects(run, new Map([['counting', consumer]]), new MemoryLocks(false), logger),
  );
  await Promise.all(effects.map((loader) => loader.runOnce()));
}

async function counted(): Promise<{ rows: number; events: number }> {
  const { rows } = await pools.reads.query<{ rows: number; events: number }>(
    'select count(*)::int as rows, count(distinct event_id)::int as events from counted',
  );
  return rows[0]!;
}

const status = async () => (await readStatus(async (sql) => (await pools.reads.query(sql)).rows))[0];

test('four loaders handle the same forty events at the same time: each event takes effect once', async () => {
  await storeDueEvents(40);
  await actInFourLoaders(counting());
  expect(await counted()).toEqual({ rows: 40, events: 40 });
  expect(await status()).toMatchObject({ due: 0, parked: 0 });
}, 30_000);

test('negative control, the consumer does not check whether the event is still due: events take effect more than once', async () => {
  await storeDueEvents(40);
  await actInFourLoaders(counting({ skipsDueCheck: true }));
  expect((await counted()).rows).toBeGreaterThan(40);
}, 30_000);

test('an event whose effect does not commit is tried again later, and the events after it take effect', async () => {
  await storeDueEvents(3);
  await actInFourLoaders(counting({ crashOn: 2 }));
  expect(await counted()).toEqual({ rows: 2, events: 2 });
  expect(await status()).toMatchObject({ due: 1, parked: 0 });
  await pools.reads.query('update loaded_events_due set due_at = now()');
  await actInFourLoaders(counting());
  expect(await counted()).toEqual({ rows: 3, events: 3 });
});

test('an event is parked after one attempt if no retry can repair its error (isFinal), and after ten attempts with any other error', async () => {
  await storeDueEvents(2);
  await pools.reads.query(`update loaded_events set payload = '{"n": -1}' where event_id = '1'`);
  const effects = new DueEffects(run, new Map([['counting', counting({ crashOn: 2 })]]), new MemoryLocks(), logger);
  for (let attempt = 0; attempt < 12; attempt += 1) {
    await effects.runOnce();
    await pools.reads.query('update loaded_events_due set due_at = now()');
  }
  const { rows } = await pools.reads.query(
    'select event_id, attempts, parked_at is not null as parked from loaded_events_due order by 1',
  );
  expect(rows).toEqual([
    { event_id: '1', attempts: 1, parked: true },
    { event_id: '2', attempts: 10, parked: true },
  ]);
});

test('a delayed event is handled again after the delay; a repeated conflict is not counted twice, a conflict that is gone is resolved', async () => {
  await storeDueEvents(1);
  let seats = ['a', 'b'];
  const consumer: Consumer = {
    isFinal: () => false,
    act: (_payload, effect) =>
      transactions.run(async (tx) => {
        if (!(await effect.begin(tx))) return { conflicts: [] };
        const conflicts = seats.map((subject) => ({ subject, code: 'SEAT_HELD' as const, detail: 'held' }));
        const outcome = { conflicts, ...(seats.length > 0 ? { again: new Date(Date.now() + 60_000) } : {}) };
        await effect.end(tx, outcome);
        return outcome;
      }),
  };
  const effects = new DueEffects(run, new Map([['counting', consumer]]), new MemoryLocks(), logger);
  expect(await effects.runOnce()).toBe(1);
  expect(await effects.runOnce()).toBe(0);
  expect(await status()).toMatchObject({ due: 1, conflicts: 2 });
  for (const conflicting of [['b'], []]) {
    seats = conflicting;
    await pools.reads.query('update loaded_events_due set due_at = now()');
    expect(await effects.runOnce()).toBe(1);
    expect(await status()).toMatchObject({ due: conflicting.length, conflicts: conflicting.length });
  }
});
