import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import { lockFactoryContract } from './lock-factory.contract.ts';
import { PostgresAdvisoryLocks } from './postgres-advisory-locks.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

describe('PostgreSQL advisory locks', () => {
  lockFactoryContract(() => ({
    first: new PostgresAdvisoryLocks(database.url),
    second: new PostgresAdvisoryLocks(database.url),
    expire: async (lock) => {
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'tribina-loader-lock'`,
      );
      while (lock.isHeld) await new Promise((resolve) => setTimeout(resolve, 10));
    },
  }));
});
