import type { Sector } from '#contracts/sectors';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { openMonolith, ops, seated, type WholeMonolith } from '../testing/whole-monolith.ts';
import { newKey } from '../testing/test-app.ts';

let database: TestDatabase;
let redis: TestRedis;
let monolith: WholeMonolith;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
});
afterAll(async () => {
  await monolith.close();
  await Promise.all([database.close(), redis.close()]);
});

const facts = {
  home: 'Hrvatska',
  away: 'Italija',
  venue: 'Maksimir',
  kickoff_at: '2027-06-01T20:00:00+02:00',
  currency: 'EUR',
  max_tickets_per_fan: 4,
  queue_required: true,
};
const terrace = (name: string, capacity: number) => ({ name, kind: 'standing', price_cents: 1200, capacity });
const create = (body: unknown, key = newKey()) => monolith.call('POST', '/api/v1/ops/matches', { ...ops, body, key });
const count = async (table: string) =>
  (await monolith.dataSource.query<{ n: number }[]>(`select count(*)::int as n from ${table}`))[0]?.n;

test('creating a match creates its sectors and seats and a message to the waiting room', async () => {
  const sectors = [{ ...seated('East A', 3, 4), gate: 'E1' }, terrace('North', 7)];
  const { status, json, headers } = await create({ ...facts, sectors });
  expect([status, headers.location]).toEqual([201, `/api/v1/matches/${json.id}`]);
  expect(json).toMatchObject({
    kickoff_at: '2027-06-01T18:00:00.000Z',
    sale: { status: 'scheduled', opens_at: null, policy: 'fifo' },
    processing_rate: 600,
    max_open_windows: 1000,
    sectors: [
      { name: 'East A', kind: 'seated', gate: 'E1', price_cents: 2500, currency: 'EUR', capacity: 12 },
      { name: 'North', kind: 'standing', price_cents: 1200, capacity: 7 },
    ],
  });
  const { json: list } = await monolith.call('GET', `/api/v1/matches/${json.id}/sectors`);
  expect(list.items.map(({ name, available }: { name: string; available: number }) => [name, available])).toEqual([
    ['East A', 12],
    ['North', 7],
  ]);
  const [east, north] = await Promise.all(
    json.sectors.map(({ id }: { id: string }) => monolith.call('GET', `/api/v1/matches/${json.id}/sectors/${id}/seats`)),
  );
  expect(new Set(east.json.items.map(({ row, number }: { row: string; number: number }) => `${row}/${number}`)).size).toBe(12);
  expect(north.json.items).toEqual([]);
  const messages = await monolith.dataSource.query(`select destination, body from outbox where aggregate_id = $1`, [json.id]);
  expect(messages).toEqual([{ destination: 'waiting-room', body: { kind: 'sync', match_id: json.id } }]);
});

test('a sector says whether its places are for people in wheelchairs; without a word from the operator they are not', async () => {
  const sectors = [{ ...seated('West A', 1, 4), wheelchair: true }, terrace('North', 7)];
  const { status, json } = await create({ ...facts, sectors });
  expect(status).toBe(201);
  const { json: list } = await monolith.call('GET', `/api/v1/matches/${json.id}/sectors`);
  for (const answered of [json.sectors, list.items]) {
    expect(answered.map(({ name, wheelchair }: Sector) => [name, wheelchair])).toEqual([
      ['West A', true],
      ['North', false],
    ]);
  }
  const refused = await create({ ...facts, sectors: [{ ...terrace('North', 7), wheelchair: 'yes' }] });
  expect([refused.status, refused.json.errors]).toEqual([400, [expect.objectContaining({ path: 'sectors.0.wheelchair' })]]);
});

test('a stadium of 33,424 seats is created within 10 s, and all seats have different positions', async () => {
  const stands = Array.from({ length: 22 }, (_, index) => seated(`Sector ${index + 1}`, 29, 48));
  const begun = performance.now();
  const { status, json } = await create({ ...facts, sectors: [...stands, terrace('North', 1400), terrace('South', 1400)] });
  const seconds = (performance.now() - begun) / 1000;
  expect(status).toBe(201);
  const { json: report } = await monolith.call('GET', `/api/v1/ops/matches/${json.id}/report`, ops);
  expect([report.capacity, report.available, report.sold]).toEqual([33_424, 33_424, 0]);
  const points = await monolith.dataSource.query<{ n: number }[]>(
    `select count(distinct (x, y))::int as n from seats where match_id = $1 and x is not null`,
    [json.id],
  );
  expect(points[0]?.n).toBe(30_624);
  expect(seconds).toBeLessThan(10);
});

test('a repeated idempotency key creates no second match', async () => {
  const body = { ...facts, sectors: [seated('East A')] };
  const key = newKey();
  const matches = (await count('matches')) ?? 0;
  const answers = await Promise.all(Array.from({ length: 5 }, () => create(body, key)));
  const later = await create(body, key);
  expect(
    answers.filter(({ status }) => status === 201).length +
      answers.filter(({ json }) => json.code === 'IDEMPOTENCY_KEY_IN_USE').length,
  ).toBe(5);
  expect([later.status, later.headers['idempotency-replayed'], await count('matches')]).toEqual([201, 'true', matches + 1]);
});

test.each<[string, Record<string, unknown>, string]>([
  ['120,001 seats', { sectors: [terrace('North', 120_000), terrace('South', 1)] }, 'sectors'],
  ['100 million seats', { sectors: Array.from({ length: 200 }, (_, index) => seated(`S${index}`, 500, 1000)) }, 'sectors'],
  ['two sectors with the same name', { sectors: [seated('East A'), terrace('East A', 5)] }, 'sectors'],
  ['201 sectors', { sectors: Array.from({ length: 201 }, (_, index) => terrace(`S${index}`, 1)) }, 'sectors'],
  ['no sector', { sectors: [] }, 'sectors'],
  ['a standing sector with rows', { sectors: [{ ...terrace('North', 5), rows: 2 }] }, 'sectors.0'],
  ['a negative price', { sectors: [{ ...seated('East A'), price_cents: -1 }] }, 'sectors.0.price_cents'],
  ['a limit of 21 tickets per fan', { max_tickets_per_fan: 21 }, 'max_tickets_per_fan'],
  ['a kick-off without a time of day', { kickoff_at: '2027-06-01' }, 'kickoff_at'],
  ['an unknown field', { id: 'x' }, ''],
])('a match with %s is refused and neither match nor seats are created', async (_, change, path) => {
  const [matches, seats] = [await count('matches'), await count('seats')];
  const { status, json } = await create({ ...facts, sectors: [seated('East A')], ...change });
  expect([status, json.code, json.errors[0].path]).toEqual([400, 'VALIDATION_FAILED', path]);
  expect([await count('matches'), await count('seats')]).toEqual([matches, seats]);
});

test('a match with exactly 120,000 seats can be created', async () => {
  const { status, json } = await create({
    ...facts,
    queue_required: false,
    sectors: [terrace('North', 60_000), terrace('South', 60_000)],
  });
  expect(status).toBe(201);
  expect((await monolith.call('GET', `/api/v1/ops/matches/${json.id}/report`, ops)).json.available).toBe(120_000);
}, 60_000);
