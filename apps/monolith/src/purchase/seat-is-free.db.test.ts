import { seatIsFreeCases } from '#domain/purchase/testing/seat-is-free.cases';
import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { seatIsFree, seatIsHeld } from './seat-is-free.sql.ts';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await openDatabase({ url: database.url, name: 'test' });
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** `now()` is the start of the transaction, and of a single statement: the seat expires relative to the same instant. */
async function evaluate(rule: string, status: string, expiresInMs: number | null): Promise<boolean> {
  const [row] = await dataSource.query<[{ result: boolean }]>(
    `select coalesce(${rule}, false) as result
     from (select $1::text as status, now() + $2::float8 * interval '1 millisecond' as expires_at) s`,
    [status, expiresInMs],
  );
  return row.result;
}

test.each(seatIsFreeCases)('SQL rule: $seat: free is $isFree', async ({ status, expiresInMs, isFree }) => {
  expect(await evaluate(seatIsFree('s'), status, expiresInMs)).toBe(isFree);
});

test.each(seatIsFreeCases)('SQL rule: $seat: held is the opposite of free', async ({ status, expiresInMs, isFree }) => {
  expect(await evaluate(seatIsHeld('s'), status, expiresInMs)).toBe(status === 'held' && !isFree);
});

test('negative control: a rule without the expiry calls an expired hold taken', async () => {
  expect(await evaluate(`(s.status = 'available')`, 'held', -1)).toBe(false);
  expect(await evaluate(seatIsFree('s'), 'held', -1)).toBe(true);
});
