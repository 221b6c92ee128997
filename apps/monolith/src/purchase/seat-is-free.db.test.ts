import { seatIsFreeCases } from '#domain/purchase/testing/seat-is-free.cases';
import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { seatIsFree, seatIsHeld } from './seat-is-free.api.ts';

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

/**
 * Evaluates an SQL rule for a seat. The seat's expiry is computed from `now()` in the same statement, where `now()` always has the
 * same value, so the rule sees the expiry exactly `expiresInMs` away.
 */
async function evaluate(rule: string, status: string, expiresInMs: number | null): Promise<boolean> {
  const [row] = await dataSource.query<[{ result: boolean }]>(
    `select coalesce(${rule}, false) as result
     from (select $1::text as status, now() + $2::float8 * interval '1 millisecond' as expires_at) s`,
    [status, expiresInMs],
  );
  return row.result;
}

test.each(seatIsFreeCases)('seatIsFree in SQL: of $seat is $isFree', async ({ status, expiresInMs, isFree }) => {
  expect(await evaluate(seatIsFree('s'), status, expiresInMs)).toBe(isFree);
});

test.each(seatIsFreeCases)(
  'seatIsHeld in SQL: of $seat is true exactly if its status is held and it is not free',
  async ({ status, expiresInMs, isFree }) => {
    expect(await evaluate(seatIsHeld('s'), status, expiresInMs)).toBe(status === 'held' && !isFree);
  },
);

test('negative control: an SQL rule that ignores the expiry says that the seat of an expired hold is taken', async () => {
  expect(await evaluate(`(s.status = 'available')`, 'held', -1)).toBe(false);
  expect(await evaluate(seatIsFree('s'), 'held', -1)).toBe(true);
});
