import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type pg from 'pg';
import { Event, type Source } from '../core/event.ts';
import { eventStoreContract } from '../testing/event-store.contract.ts';
import { sourceNamed } from '../testing/sources.ts';
import { APPEND_EVENTS, SEPARATOR } from './append-events.sql.ts';
import { readStatus } from './loader-status.ts';
import { openLoaderPools, PostgresEventStore, type LoaderPools } from './postgres-event-store.ts';

let database: TestDatabase;
let pools: LoaderPools;
let pool: pg.Pool;
let store: PostgresEventStore;

beforeAll(async () => {
  database = await createTestDatabase();
  pools = openLoaderPools(database.url);
  pool = pools.reads;
  store = new PostgresEventStore(pools, { onRetry: () => undefined });
});
afterAll(async () => {
  await pools.close();
  await database.close();
});

const values = async (sql: string, source: Source): Promise<string[]> =>
  (await pool.query<{ value: string }>(sql, [source.name])).rows.map(({ value }) => value);

describe('PostgreSQL store', () => {
  eventStoreContract(() => ({
    store,
    storedOf: (source) =>
      values('select event_id as value from loaded_events where source = $1 order by event_id::bigint', source),
    quarantinedOf: (source) => values('select code as value from quarantined_events where source = $1 order by code', source),
  }));

  const batch = (source: Source, events: Event[], more = {}) => ({
    ...{
      source,
      from: undefined,
      to: events.at(-1)?.id,
      lockNumber: 1,
      events,
      unrequested: [],
      bad: [],
      duplicates: 0,
      gaps: 0,
      isCaughtUp: false,
    },
    ...more,
  });

  test('an event that the database cannot store is quarantined, and the other events of the batch are stored', async () => {
    const source = sourceNamed('unstorable');
    await store.lastKnownId(source);
    const events = [new Event('1', { a: 1 }), new Event('2', { a: 'zero \0 byte' }), new Event('3', { a: 3 })];
    expect(await store.append(batch(source, events))).toEqual({ kind: 'appended', stored: 2, refused: 0, quarantined: 1 });
    expect(await store.lastKnownId(source)).toBe('3');
  });

  test('an answer with only bad events that are already quarantined keeps the last error that another loader wrote; any other answer clears it', async () => {
    const source = sourceNamed('junk');
    await store.lastKnownId(source);
    const bad = [{ id: undefined, code: 'EVENT_INVALID' as const, detail: 'no id', content: '1' }];
    const errorAfter = async (more: object): Promise<string | undefined> => {
      await pool.query(`update loader_sources set last_error = 'SOURCE_BAD_FORMAT' where source = $1`, [source.name]);
      await store.append(batch(source, [], more));
      return (await values('select last_error as value from loader_sources where source = $1', source))[0];
    };
    expect(await errorAfter({ bad })).toBeNull();
    expect(await errorAfter({ bad })).toBe('SOURCE_BAD_FORMAT');
    expect(await errorAfter({ bad, to: '1' })).toBeNull();
    expect(await errorAfter({ bad, from: '1', to: '1', unrequested: [new Event('1', {})] })).toBeNull();
  });

  test('an event is a duplicate of the stored event even if the fields of its payload come in another order', async () => {
    const source = sourceNamed('reordered');
    await store.lastKnownId(source);
    await store.append(batch(source, [new Event('1', { a: 1, b: [2] })]));
    const again = batch(source, [new Event('1', { b: [2], a: 1 })], { from: '1', to: '1' });
    expect(await store.append(again)).toMatchObject({ refused: 1, quarantined: 0 });
  });

  test('the counts of an hour add up to the offered events, and `missing` is what the source’s digest counts and we do not have', async () => {
    const source = sourceNamed('balanced');
    await store.lastKnownId(source);
    await store.append(batch(source, [new Event('1', { n: 1 }), new Event('4', { n: 4 })], { gaps: 2, duplicates: 1 }));
    const bad = [{ id: '5', code: 'EVENT_INVALID', detail: 'x', content: 'y' }];
    const digest = { upToId: '5', count: 4 };
    await store.append(batch(source, [], { from: '4', to: '5', unrequested: [new Event('2', { n: 2 })], bad, digest }));
    const { rows } = await pool.query(
      `select s.gaps::int, s.missing::int, b.missing::int as missing_then, offered::int, b.stored::int, b.refused_duplicates::int as refused, b.quarantined::int, dropped::int
       from loader_sources s join loader_balance b using (source) where source = $1`,
      [source.name],
    );
    expect(rows).toEqual([
      { gaps: 2, missing: 1, missing_then: 1, offered: 5, stored: 2, refused: 1, quarantined: 1, dropped: 1 },
    ]);
  });

  test('events that are already stored are found by index, even without statistics for PostgreSQL’s planner', async () => {
    await pool.query(
      `insert into loaded_events (source, event_id, payload) select 'x', n::text, '{}' from generate_series(1, 50000) n`,
    );
    const offered = Array.from({ length: 1000 }, (_, index) => String(index)).join(SEPARATOR);
    const { text, values } = APPEND_EVENTS.with({
      ...{
        source: 'x',
        from: null,
        to: null,
        lockNumber: 1,
        ids: offered,
        payloads: offered,
        offeredCount: 1000,
        storableCount: 1000,
      },
      ...{ bad: '[]', duplicates: 0, gaps: 0, feeds: null, digestId: null, digestCount: null, isCaughtUp: false },
    });
    const { rows } = await pools.commit.query<Record<'QUERY PLAN', string>>(`explain ${text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index Scan using loaded_events_pkey');
    expect(plan).not.toMatch(/Hash Join|Merge Join|Seq Scan|Bitmap Heap Scan/);
  });

  test('the lag of a source with new events starts again when an append says that the loader has caught up', async () => {
    const source = sourceNamed('busy');
    await store.lastKnownId(source);
    const lag = async (): Promise<number | null | undefined> =>
      (await readStatus(async (sql) => (await pool.query(sql)).rows)).find((row) => row.source === source.name)?.lag_seconds;
    await pool.query(`update loader_sources set asked_since = now() - interval '1 hour' where source = $1`, [source.name]);
    await store.append(batch(source, [new Event('1', {})]));
    expect(await lag()).toBeGreaterThan(3599);
    await store.append(batch(source, [new Event('2', {})], { from: '1', isCaughtUp: true }));
    expect(await lag()).toBeLessThan(5);
  });

  test('the events of a source that has the setting `feeds` are marked as due in `loaded_events_due`', async () => {
    const source = { ...sourceNamed('with-feeds'), feeds: 'payments' };
    await store.lastKnownId(source);
    await store.append(batch(source, [new Event('1', { n: 1 })]));
    expect(await values('select event_id as value from loaded_events_due where source = $1', source)).toEqual(['1']);
  });
});
