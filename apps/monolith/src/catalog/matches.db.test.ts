import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { openMonolith, ops, putOnSale, type WholeMonolith } from '../testing/whole-monolith.ts';

let database: TestDatabase;
let redis: TestRedis;
let monolith: WholeMonolith;
const ids: string[] = [];

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const list = (query = '') => monolith.call('GET', `/api/v1/matches${query}`);
const idsOf = (answer: { json: { items: { id: string }[] } }) => answer.json.items.map(({ id }) => id);

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  // The matches are created in another order than their kick-offs; three have the same kick-off.
  const evening = inHours(500);
  const made = [];
  for (const hours of [90, 10, 50, 20, 70, 30])
    made.push({ hours, id: (await putOnSale(monolith, { kickoff_at: inHours(hours) })).id });
  ids.push(...made.sort((a, b) => a.hours - b.hours).map(({ id }) => id));
  const together = [];
  for (let index = 0; index < 3; index += 1) together.push((await putOnSale(monolith, { kickoff_at: evening })).id);
  ids.push(...together.sort());
});
afterAll(async () => {
  await monolith.close();
  await Promise.all([database.close(), redis.close()]);
});

describe('the list of matches', () => {
  test('is sorted by kick-off, and its last page has no next_cursor', async () => {
    const answer = await list();
    expect([idsOf(answer), answer.json.next_cursor]).toEqual([ids, null]);
  });

  test.each([1, 2, 4, 8, 9])('in pages of %d contains every match once', async (limit) => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const answer = await list(`?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`);
      expect(answer.json.items.length).toBeLessThanOrEqual(limit);
      seen.push(...idsOf(answer));
      cursor = answer.json.next_cursor;
    }
    expect(seen).toEqual(ids);
  });

  test.each(['?cursor=nonsense', '?cursor=', '?limit=0', '?limit=101', '?limit=1e1', '?limit=-1', '?status=sleeping'])(
    'with %s is refused',
    async (query) => {
      expect((await list(query)).json.code).toBe('VALIDATION_FAILED');
    },
  );

  test('is answered 304 without a body if its ETag is unchanged', async () => {
    const { headers } = await list();
    expect(headers['cache-control']).toBe('no-cache');
    const again = await monolith.call('GET', '/api/v1/matches', { headers: { 'if-none-match': headers.etag ?? '' } });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});

describe('the list of matches filtered by the state of the sale', () => {
  const states = new Map<string, string>();
  beforeAll(async () => {
    const [opened, later, never, paused, soldOut, closed] = ids;
    const set = (id: string | undefined, status: string, opensAt: string | null) =>
      monolith.dataSource.query(`update matches set sale_status = $2, opens_at = $3 where id = $1`, [id, status, opensAt]);
    await set(opened, 'scheduled', inHours(-1));
    await set(later, 'scheduled', inHours(1));
    await set(never, 'scheduled', null);
    await set(paused, 'paused', inHours(-1));
    await set(soldOut, 'sold_out', null);
    await set(closed, 'closed', null);
    for (const id of ids) states.set(id, 'open');
    for (const [id, state] of [
      [later, 'scheduled'],
      [never, 'scheduled'],
      [paused, 'paused'],
      [soldOut, 'sold_out'],
      [closed, 'closed'],
    ] as const)
      states.set(id ?? '', state);
  });

  test.each(['scheduled', 'open', 'paused', 'sold_out', 'closed'])(
    'for the state %s contains the matches whose sale has that state now; a scheduled sale counts as open once its opens_at has passed',
    async (status) => {
      const answer = await list(`?status=${status}`);
      expect(idsOf(answer)).toEqual(ids.filter((id) => states.get(id) === status));
      expect(answer.json.items.every(({ sale }: { sale: { status: string } }) => sale.status === status)).toBe(true);
    },
  );

  test('can be read in pages', async () => {
    const first = await list('?status=open&limit=2');
    const rest = await list(`?status=open&limit=100&cursor=${first.json.next_cursor}`);
    expect([...idsOf(first), ...idsOf(rest)]).toEqual(ids.filter((id) => states.get(id) === 'open'));
  });

  test('shows the same sale as GET of a single match', async () => {
    for (const { id, sale } of (await list()).json.items)
      expect((await monolith.call('GET', `/api/v1/matches/${id}`)).json.sale).toEqual(sale);
  });

  test('shows a scheduled sale as open once its opens_at has passed', async () => {
    const [id = ''] = ids;
    await monolith.dataSource.query(
      `update matches set sale_status = 'scheduled', opens_at = now() + interval '400 ms' where id = $1`,
      [id],
    );
    const status = async () => (await monolith.call('GET', `/api/v1/matches/${id}`)).json.sale.status;
    expect(await status()).toBe('scheduled');
    await new Promise((resolve) => setTimeout(resolve, 450));
    expect(await status()).toBe('open');
  });
});

test('operators see the same list of matches with additional fields', async () => {
  const answer = await monolith.call('GET', '/api/v1/ops/matches?limit=100', ops);
  expect(idsOf(answer)).toEqual(ids);
  expect(answer.json.items[0]).toMatchObject({ processing_rate: 600, max_open_windows: 1000, pause_reason: null });
});

test('an unknown match is NOT_FOUND, and an id that is not a UUID is VALIDATION_FAILED', async () => {
  expect((await monolith.call('GET', '/api/v1/matches/0190a000-0000-7000-8000-0000000000ff')).json.code).toBe('NOT_FOUND');
  expect((await monolith.call('GET', '/api/v1/matches/17')).json.code).toBe('VALIDATION_FAILED');
});
