import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DataSource } from 'typeorm';

// Migration 0019 exists in two forms. Databases with the first one have the hash of one token in `invitations`, and no table of tokens.
const LINKS = readFileSync(path.join(import.meta.dirname, '../../migrations/0022-links-of-invitations.sql'), 'utf8');
const FIRST_FORM = `
  drop table invitation_tokens;
  drop index invitations_open_by_match;
  drop index reservations_by_invitation;
  alter table invitations drop column given_end, add column token_hash bytea not null constraint invitations_token_hash_key unique`;

let database: TestDatabase;
let dataSource: DataSource;

beforeEach(async () => {
  database = await createTestDatabase();
  dataSource = await openDatabase({ url: database.url, name: 'test' });
});
afterEach(async () => {
  await dataSource.destroy();
  await database.close();
});

/** Columns and indexes of the tables that the migration changes. */
const schema = (): Promise<unknown[]> =>
  dataSource.query(
    `select table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable as part from information_schema.columns
       where table_name in ('invitations', 'invitation_tokens', 'reservations')
     union all select indexdef from pg_indexes where tablename in ('invitations', 'invitation_tokens', 'reservations') order by 1`,
  );

test('migration 0022 brings a database with the first form of 0019 to the schema of today', async () => {
  const today = await schema();
  await dataSource.query(FIRST_FORM);
  expect(await schema()).not.toEqual(today);
  await dataSource.query(LINKS);
  expect(await schema()).toEqual(today);
});

test('migration 0022 changes nothing in a database with the second form', async () => {
  const today = await schema();
  await dataSource.query(LINKS);
  expect(await schema()).toEqual(today);
});
