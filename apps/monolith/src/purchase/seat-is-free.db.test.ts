import { seatIsFreeCases } from '#domain/purchase/testing/seat-is-free.cases';
import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { currentStatus, seatIsFree, seatIsHeld, seatIsUnusedInQuota } from './seat-is-free.api.ts';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await openDatabase({ url: database.url, name: 'test' });
});

afterAll(async () => {
  await dataSource.destroy();
  await database.close();
});

type Seat = Pick<(typeof seatIsFreeCases)[number], 'status' | 'expiresInMs' | 'isInQuota'>;

const isHeld = ({ status, expiresInMs }: Seat): boolean => status === 'held' && (expiresInMs ?? 0) > 0;
const condition = (rule: string): string => `coalesce(${rule}, false)`;

/**
 * Evaluates an SQL rule for a seat. The seat's expiry is computed from `now()` in the same statement, where `now()` always has the
 * same value, so the rule sees the expiry exactly `expiresInMs` away.
 */
async function evaluate(rule: string, { status, expiresInMs, isInQuota = false }: Seat): Promise<boolean | string> {
  const [row] = await dataSource.query<[{ result: boolean | string }]>(
    `select ${rule} as result
     from (select $1::text as status, now() + $2::float8 * interval '1 millisecond' as expires_at,
                  case when $3 then gen_random_uuid() end as quota_id) s`,
    [status, expiresInMs, isInQuota],
  );
  return row.result;
}

test.each(seatIsFreeCases)('seatIsFree in SQL: of $seat is $isFree', async ({ isFree, ...seat }) => {
  expect(await evaluate(condition(seatIsFree('s')), seat)).toBe(isFree);
});

test.each(seatIsFreeCases)(
  'seatIsHeld in SQL: of $seat is true exactly if its status is held and its hold has not ended',
  async (seat) => {
    expect(await evaluate(condition(seatIsHeld('s')), seat)).toBe(isHeld(seat));
  },
);

test.each(seatIsFreeCases)(
  'currentStatus in SQL: of $seat agrees with seatIsFree and seatIsHeld',
  async ({ isFree, ...seat }) => {
    const unused = seat.status === 'sold' ? 'sold' : 'blocked';
    expect(await evaluate(currentStatus('s'), seat)).toBe(isFree ? 'available' : isHeld(seat) ? 'held' : unused);
  },
);

test.each(seatIsFreeCases)(
  'seatIsUnusedInQuota in SQL: of $seat is true exactly if it is in a quota, not held and not sold',
  async (seat) => {
    const isUnused = seat.isInQuota === true && !isHeld(seat) && seat.status !== 'sold';
    expect(await evaluate(condition(seatIsUnusedInQuota('s')), seat)).toBe(isUnused);
  },
);

test('negative control: an SQL rule that ignores the expiry says that the seat of an expired hold is taken', async () => {
  const seat = { status: 'held', expiresInMs: -1 } as const;
  expect(await evaluate(`(s.status = 'available')`, seat)).toBe(false);
  expect(await evaluate(seatIsFree('s'), seat)).toBe(true);
});
