import { randomUUID } from 'node:crypto';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { newKey, type TestAnswer } from '../testing/test-app.ts';
import { openMonolith, ops, type WholeMonolith } from '../testing/whole-monolith.ts';

// The operators' API of the blacklist: entries, pages and history.

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

const PATH = '/api/v1/ops/blacklist';
const put = (body: unknown, more: { key?: string } = {}): Promise<TestAnswer> =>
  monolith.call('POST', PATH, { ...ops, body, ...more });
const get = async (query = '') => (await monolith.call('GET', `${PATH}${query}`, ops)).json;
const lift = (userId: string) => monolith.call('DELETE', `${PATH}/${userId}`, ops);
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const listedNow = async (): Promise<string[]> =>
  (await get('?limit=100')).items.map(({ user_id }: { user_id: string }) => user_id);

test('a fan is put on the blacklist with reason and operator, the entry can be read and deleted; a second DELETE is 204 too', async () => {
  const fan = randomUUID();
  const until = inAnHour();
  const answer = await put({ user_id: fan, reason: 'Resold 40 tickets', until });
  const entry = { user_id: fan, reason: 'Resold 40 tickets', until, listed_by: ops.as, listed_at: expect.any(String) };
  expect([answer.status, answer.headers.location, answer.json]).toEqual([201, `${PATH}/${fan}`, entry]);
  expect((await get()).items).toContainEqual(entry);
  expect(await get(`/${fan}`)).toMatchObject({ user_id: fan, entry, history: [{ action: 'list', by: ops.as, until }] });
  expect([(await lift(fan)).status, (await lift(fan)).status]).toEqual([204, 204]);
  expect(await listedNow()).not.toContain(fan);
  expect(await get(`/${fan}`)).toMatchObject({ entry: null, history: [{ action: 'lift', by: ops.as }, { action: 'list' }] });
});

test('putting a fan on the blacklist who is on it already is 200 and replaces the entry; the history keeps the first entry', async () => {
  const fan = randomUUID();
  await put({ user_id: fan, reason: 'Threw a torch', until: inAnHour() });
  const again = await put({ user_id: fan.toUpperCase(), reason: 'For life' });
  expect([again.status, again.headers.location, again.json]).toMatchObject([200, undefined, { reason: 'For life', until: null }]);
  expect((await listedNow()).filter((userId) => userId === fan)).toHaveLength(1);
  const { history } = await get(`/${fan}`);
  expect(history.map(({ reason }: { reason: string }) => reason)).toEqual(['For life', 'Threw a torch']);
});

test('an expired entry is no longer on the blacklist; putting the same fan on it again is 201', async () => {
  const fan = randomUUID();
  await put({ user_id: fan, reason: 'A moment', until: new Date(Date.now() + 300).toISOString() });
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(await listedNow()).not.toContain(fan);
  expect((await get(`/${fan}`)).entry).toBeNull();
  expect((await put({ user_id: fan, reason: 'Longer' })).status).toBe(201);
});

test('a POST repeated with its idempotency key makes one entry and gets the same answer; a POST for another fan with that key is refused', async () => {
  const [fan, key] = [randomUUID(), newKey()];
  const first = await put({ user_id: fan, reason: 'Once' }, { key });
  const again = await put({ user_id: fan, reason: 'Once' }, { key });
  expect([again.status, again.json, again.headers['idempotency-replayed']]).toEqual([201, first.json, 'true']);
  expect((await get(`/${fan}`)).history).toHaveLength(1);
  expect((await put({ user_id: randomUUID(), reason: 'Once' }, { key })).json.code).toBe('IDEMPOTENCY_KEY_REUSED');
});

test('two operators who put a fan on the blacklist at once make one entry and two history rows; if one adds and one removes the fan, the entry agrees with the history', async () => {
  const [both, contested] = [randomUUID(), randomUUID()];
  const answers = await Promise.all(['One', 'Two'].map((reason) => put({ user_id: both, reason })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 201]);
  expect((await get(`/${both}`)).history).toHaveLength(2);
  await Promise.all([put({ user_id: contested, reason: 'Contested' }), lift(contested)]);
  const { entry, history } = await get(`/${contested}`);
  expect(entry === null).toBe(history[0].action === 'lift');
});

test('the pages of the blacklist contain every entry once, newest first', async () => {
  const fans = Array.from({ length: 5 }, () => randomUUID());
  for (const fan of fans) await put({ user_id: fan, reason: 'One of five' });
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { items, next_cursor } = await get(`?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...items.map(({ user_id }: { user_id: string }) => user_id));
    cursor = next_cursor;
  }
  expect(seen.slice(0, 5)).toEqual([...fans].reverse());
  expect(new Set(seen).size).toBe(seen.length);
});

test.each<[string, unknown, string]>([
  ['no user_id', { reason: 'x' }, 'user_id'],
  ['a user_id that is not a UUID', { user_id: 'ana', reason: 'x' }, 'user_id'],
  ['a number as user_id', { user_id: 3, reason: 'x' }, 'user_id'],
  ['no reason', { user_id: randomUUID() }, 'reason'],
  ['an empty reason', { user_id: randomUUID(), reason: '' }, 'reason'],
  ['a reason of spaces only', { user_id: randomUUID(), reason: '  ' }, 'reason'],
  ['a reason of two lines', { user_id: randomUUID(), reason: 'a\nb' }, 'reason'],
  ['a reason of 201 characters', { user_id: randomUUID(), reason: 'x'.repeat(201) }, 'reason'],
  ['an `until` in the past', { user_id: randomUUID(), reason: 'x', until: '2020-01-01T00:00:00Z' }, 'until'],
  ['an `until` without a time zone', { user_id: randomUUID(), reason: 'x', until: '2099-01-01T00:00:00' }, 'until'],
  ['an `until` that is not a time', { user_id: randomUUID(), reason: 'x', until: 'tomorrow' }, 'until'],
  ['a number as `until`', { user_id: randomUUID(), reason: 'x', until: 4_102_444_800 }, 'until'],
  ['the 30th of February as `until`', { user_id: randomUUID(), reason: 'x', until: '2099-02-30T00:00:00Z' }, 'until'],
])('putting a fan on the blacklist with %s is 400 and adds no entry', async (_what, body, path) => {
  const before = await listedNow();
  const { status, json } = await put(body);
  expect([status, json.code, json.errors[0].path]).toEqual([400, 'VALIDATION_FAILED', path]);
  expect(await listedNow()).toEqual(before);
});

test('the blacklist API refuses unknown fields, malformed ids and cursors, and callers without the ops role', async () => {
  const fan = randomUUID();
  const answers = [
    await put({ user_id: fan, reason: 'x', forever: true }),
    await monolith.call('GET', `${PATH}/ana`, ops),
    await monolith.call('DELETE', `${PATH}/ana`, ops),
    await monolith.call('GET', `${PATH}?cursor=ana`, ops),
    await monolith.call('POST', PATH, { as: ops.as, body: { user_id: fan, reason: 'x' } }),
    await monolith.call('GET', PATH),
  ];
  expect(answers.map(({ json }) => json.code)).toEqual([
    'VALIDATION_FAILED',
    'VALIDATION_FAILED',
    'VALIDATION_FAILED',
    'VALIDATION_FAILED',
    'FORBIDDEN',
    'UNAUTHENTICATED',
  ]);
  expect(await listedNow()).not.toContain(fan);
  expect(await get(`/${fan}`)).toEqual({ user_id: fan, entry: null, history: [] });
});
