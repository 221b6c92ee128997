import { randomUUID } from 'node:crypto';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';

// Redis has forgotten a key that PostgreSQL knows: the row is looked for when the repeat fails, and not before.

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 10, 10)] });
});
afterAll(() => opened.close());

const newKey = (): string => randomUUID().replaceAll('-', '');
const forget = () => office.monolith.resources.redis.flushdb();

test.each([
  ['would be possible again', 1],
  ['would be refused now, the limit being reached', 4],
])('the same answer to a repeat that %s', async (_what, quantity) => {
  const wish = { as: randomUUID(), quantity, key: newKey() };
  const first = await office.hold(match, wish);
  await forget();
  const again = await office.hold(match, wish);
  expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
  expect(await office.rows(`select count(*)::int as n from reservations where user_id = $1`, [wish.as])).toEqual([{ n: 1 }]);
});

test.each([1, 4])('another request under the key of a hold of %i is told so', async (quantity) => {
  const wish = { as: randomUUID(), key: newKey() };
  await office.hold(match, { ...wish, quantity });
  await forget();
  expect(await office.hold(match, { ...wish, quantity: 2 })).toMatchObject({
    status: 422,
    json: { code: 'IDEMPOTENCY_KEY_REUSED' },
  });
});

test.each([
  ['was given back', (id: string, as: string) => office.monolith.call('DELETE', `/api/v1/reservations/${id}`, { as })],
  ['is being paid', (id: string) => office.rows(`update reservations set status = 'ordered' where id = $1`, [id])],
  [
    'ended long ago',
    (id: string) => office.rows(`update reservations set status = 'expired', ended_at = now(), swept = true where id = $1`, [id]),
  ],
])('a hold is answered as it was when it %s since', async (_what, happens) => {
  const wish = { as: randomUUID(), quantity: 2, key: newKey() };
  const first = await office.hold(match, wish);
  await happens(first.json.id as string, wish.as);
  await forget();
  const again = await office.hold(match, wish);
  expect([again.status, again.text, again.headers.location]).toEqual([201, first.text, first.headers.location]);
  expect(first.json.status).toBe('held');
});

test('a checkout is answered as it was', async () => {
  const held = await office.held(match, { quantity: 2 });
  const checkout = {
    as: held.userId,
    key: newKey(),
    body: { holders: held.seatIds.map((seat_id) => ({ seat_id, name: 'Ana' })), email: 'ana@example.hr' },
  };
  const first = await office.monolith.call('POST', `/api/v1/reservations/${held.id}/checkout`, checkout);
  await forget();
  const again = await office.monolith.call('POST', `/api/v1/reservations/${held.id}/checkout`, checkout);
  expect([again.status, again.text]).toEqual([201, first.text]);
});

test('many repeats at once beside new wishes: each is answered, nobody else fails, and nothing is done twice', async () => {
  const known = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const wish = { as: randomUUID(), quantity: 2, key: newKey() };
      return { wish, first: await office.hold(match, wish) };
    }),
  );
  await forget();
  const [again, others] = await Promise.all([
    Promise.all(known.map(({ wish }) => office.hold(match, wish))),
    Promise.all(Array.from({ length: 8 }, () => office.hold(match, { quantity: 2 }))),
  ]);
  expect(again.map(({ text }) => text)).toEqual(known.map(({ first }) => first.text));
  expect(others.map(({ status }) => status)).toEqual(Array(8).fill(201));
});
