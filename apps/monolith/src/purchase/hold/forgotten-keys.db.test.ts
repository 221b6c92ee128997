import { randomUUID } from 'node:crypto';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';

// Redis has lost an idempotency key that PostgreSQL still has. Its idempotency row in PostgreSQL is read only when the repeated
// request fails.

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
const clearRedis = () => office.monolith.resources.redis.flushdb();

test.each([
  ['that could be held once more', 1],
  ['that would now exceed the ticket limit', 4],
])(
  'idempotency key lost from Redis: a repeated hold request %s gets the first answer, and nothing more is held',
  async (_case, quantity) => {
    const request = { as: randomUUID(), quantity, key: newKey() };
    const first = await office.hold(match, request);
    await clearRedis();
    const again = await office.hold(match, request);
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
    expect(await office.rows(`select count(*)::int as n from reservations where user_id = $1`, [request.as])).toEqual([{ n: 1 }]);
  },
);

test.each([1, 4])(
  'idempotency key lost from Redis: a different request with the key of a hold of %i seat(s) is refused with IDEMPOTENCY_KEY_REUSED',
  async (quantity) => {
    const request = { as: randomUUID(), key: newKey() };
    await office.hold(match, { ...request, quantity });
    await clearRedis();
    expect(await office.hold(match, { ...request, quantity: 2 })).toMatchObject({
      status: 422,
      json: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
  },
);

test.each([
  ['the hold was released', (id: string, as: string) => office.monolith.call('DELETE', `/api/v1/reservations/${id}`, { as })],
  ['the hold has an order', (id: string) => office.rows(`update reservations set status = 'ordered' where id = $1`, [id])],
  [
    'the hold expired long ago',
    (id: string) => office.rows(`update reservations set status = 'expired', ended_at = now(), swept = true where id = $1`, [id]),
  ],
])(
  'idempotency key lost from Redis: a repeated hold request gets the first answer although the hold has changed: %s',
  async (_case, change) => {
    const request = { as: randomUUID(), quantity: 2, key: newKey() };
    const first = await office.hold(match, request);
    await change(first.json.id as string, request.as);
    await clearRedis();
    const again = await office.hold(match, request);
    expect([again.status, again.text, again.headers.location]).toEqual([201, first.text, first.headers.location]);
    expect(first.json.status).toBe('held');
  },
);

test('idempotency key lost from Redis: a repeated checkout gets the first answer', async () => {
  const held = await office.held(match, { quantity: 2 });
  const checkout = {
    as: held.userId,
    key: newKey(),
    body: { holders: held.seatIds.map((seat_id) => ({ seat_id, name: 'Ana' })), email: 'ana@example.hr' },
  };
  const first = await office.monolith.call('POST', `/api/v1/reservations/${held.id}/checkout`, checkout);
  await clearRedis();
  const again = await office.monolith.call('POST', `/api/v1/reservations/${held.id}/checkout`, checkout);
  expect([again.status, again.text]).toEqual([201, first.text]);
});

test('idempotency keys lost from Redis: eight repeated requests get their first answers, and eight new requests at the same time are held', async () => {
  const known = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const request = { as: randomUUID(), quantity: 2, key: newKey() };
      return { request, first: await office.hold(match, request) };
    }),
  );
  await clearRedis();
  const [repeated, newRequests] = await Promise.all([
    Promise.all(known.map(({ request }) => office.hold(match, request))),
    Promise.all(Array.from({ length: 8 }, () => office.hold(match, { quantity: 2 }))),
  ]);
  expect(repeated.map(({ text }) => text)).toEqual(known.map(({ first }) => first.text));
  expect(newRequests.map(({ status }) => status)).toEqual(Array(8).fill(201));
});
