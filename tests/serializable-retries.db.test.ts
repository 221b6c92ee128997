import { Event } from '#event-loader/core/event';
import { openLoaderPools, PostgresEventStore } from '#event-loader/adapters/postgres-event-store';
import { sourceNamed } from '#event-loader/testing/sources';
import { openDatabase } from '#platform/postgres/database';
import { namedSql } from '#platform/postgres/named-sql';
import type { RetryOptions } from '#platform/postgres/serializable';
import { SingleStatements } from '#platform/postgres/single-statements';
import { sqlstateOf } from '#platform/postgres/sqlstates';
import { inside } from '#platform/postgres/transaction';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import { WriterConnection } from '../apps/monolith/src/purchase/hold/outbound/writer-connection.ts';

/** Runs one transaction that calls the SQL function `meet_contention`. */
type RunTransaction = (url: string, options: RetryOptions) => Promise<unknown>;

const CONTENTION = namedSql('meet-contention', 'select meet_contention()').with({});
const source = sourceNamed('contended');

/** Every adapter that runs SERIALIZABLE transactions. */
const adapters: readonly (readonly [name: string, run: RunTransaction])[] = [
  [
    'PostgresTransactionManager',
    async (url, { onRetry, sleep }) => {
      const database = await openDatabase({ url, name: 'retries-test', poolSize: 1 });
      const retries = { inc: ({ sqlstate }: { sqlstate: string }) => onRetry(sqlstate) } as never;
      const transactions = new PostgresTransactionManager(database, { deadlineMs: 20_000, retries, sleep });
      return transactions.run((tx) => inside(tx).rows(CONTENTION)).finally(() => database.destroy());
    },
  ],
  [
    'SingleStatements',
    (url, options) => {
      const statements = new SingleStatements(url, 'retries-test', options);
      return statements.rows(CONTENTION).finally(() => statements.close());
    },
  ],
  [
    'WriterConnection',
    (url, options) => {
      const connection = new WriterConnection({ url, name: 'retries-test', settings: '', ...options });
      return connection.commit(CONTENTION, () => Promise.resolve(undefined)).finally(() => connection.close());
    },
  ],
  [
    'PostgresEventStore',
    (url, options) => {
      const pools = openLoaderPools(url);
      const store = new PostgresEventStore(pools, options);
      const append = async (): Promise<unknown> => {
        await store.lastKnownId(source);
        const [none, events] = [[], [new Event('1', {})]];
        return store.append({
          ...{ source, from: undefined, to: '1', lockNumber: 1, events, unrequested: none, bad: none },
          ...{ duplicates: 0, gaps: 0, isCaughtUp: false },
        });
      };
      return append().finally(() => pools.close());
    },
  ],
];

let testDatabase: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await testDatabase.close();
});

/** Makes the next `failures` transactions fail with this SQLSTATE. A sequence counts them, because a rollback does not reset it. */
async function failNextTransactions(failures: number, sqlstate: string): Promise<void> {
  await client.query(`
    drop sequence if exists attempts;
    create sequence attempts;
    create or replace function meet_contention() returns void language plpgsql as $$
    begin
      if nextval('attempts') <= ${failures} then raise exception 'no' using errcode = '${sqlstate}'; end if;
    end $$;
    create or replace function meet_contention_on_insert() returns trigger language plpgsql as $$
    begin
      perform meet_contention();
      return new;
    end $$;
    create or replace trigger contention before insert on loaded_events
      for each row execute function meet_contention_on_insert();
    truncate loaded_events, loader_sources cascade`);
}

describe.each(adapters)('%s', (_name, run) => {
  /** Runs one transaction; returns its error, the counted retries and the pauses. */
  const outcome = async () => {
    const [retried, pauses]: [string[], number[]] = [[], []];
    const error: unknown = await run(testDatabase.url, {
      onRetry: (sqlstate) => void retried.push(sqlstate),
      sleep: (ms) => Promise.resolve(void pauses.push(ms)),
    }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return { error, retried, pauses };
  };

  test.each(['55P03', '40P01', '40001'])(
    'a transaction that fails once with %s is retried, and the retry is counted',
    async (state) => {
      await failNextTransactions(1, state);
      expect(await outcome()).toEqual({ error: undefined, retried: [state], pauses: [expect.any(Number)] });
    },
  );

  test('a transaction that fails five times succeeds in the sixth attempt', async () => {
    await failNextTransactions(5, '40001');
    expect(await outcome()).toMatchObject({ error: undefined, retried: Array.from({ length: 5 }, () => '40001') });
  });

  test('after six failed attempts the error is LOCK_TIMEOUT with the same text for all adapters, and the pauses have grown', async () => {
    await failNextTransactions(6, '40001');
    const { error, retried, pauses } = await outcome();
    expect(error).toMatchObject({
      code: 'LOCK_TIMEOUT',
      message: 'Too many concurrent requests for the same data. Nothing was changed; try again.',
    });
    expect(retried).toHaveLength(5);
    expect(pauses.map((ms, index) => ms >= Math.min(1000, 25 * 2 ** (index + 1)))).toEqual([true, true, true, true, true]);
  });

  test('a transaction that fails for another reason is not retried', async () => {
    await failNextTransactions(1, '23514');
    const { error, retried } = await outcome();
    expect([sqlstateOf(error), retried]).toEqual(['23514', []]);
  });
});
