import { randomUUID } from 'node:crypto';
import { ops, putOnSale, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice, type Ordered } from '../testing/box-office.ts';

const ORDERS = '/api/v1/ops/orders';
let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let paid: Ordered;
let unpaid: Ordered;
let elsewhere: Ordered;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith);
  paid = await office.ordered(await office.held(match, { quantity: 2 }));
  await office.settle(office.report(paid));
  unpaid = await office.ordered(await office.held(match));
  elsewhere = await office.ordered(await office.held(await putOnSale(office.monolith)));
});
afterAll(async () => opened.close());

const found = async (query = ''): Promise<string[]> =>
  (await office.monolith.call('GET', `${ORDERS}${query}`, ops)).json.items.map(({ id }: { id: string }) => id);

test('operators see the orders of all fans, newest first, with whose they are and their tickets', async () => {
  const { items } = (await office.monolith.call('GET', ORDERS, ops)).json;
  expect(items.map(({ id }: { id: string }) => id)).toEqual([elsewhere.orderId, unpaid.orderId, paid.orderId]);
  expect(items[2]).toMatchObject({
    status: 'completed',
    user_id: paid.held.userId,
    email: 'ana@example.hr',
    tickets: [{ status: 'valid' }, { status: 'valid' }],
  });
});

test.each([
  ['match', () => `?match_id=${match.id}`, () => [unpaid.orderId, paid.orderId]],
  ['fan', () => `?user_id=${unpaid.held.userId}`, () => [unpaid.orderId]],
  ['state', () => '?status=completed', () => [paid.orderId]],
  ['payment', () => `?q=${paid.intentId}`, () => [paid.orderId]],
  ['address, in any case', () => '?q=ANA@example.hr', () => [elsewhere.orderId, unpaid.orderId, paid.orderId]],
  ['a part of an address, which finds nothing', () => '?q=example.hr', () => []],
  ['two at once', () => `?match_id=${match.id}&status=completed`, () => [paid.orderId]],
  ['nobody', () => `?user_id=${randomUUID()}`, () => []],
])('they are found by %s', async (_what, query, expected) => {
  expect(await found(query())).toEqual(expected());
});

test('an order is found by its number', async () => {
  const { number } = await office.order(unpaid);
  expect(await found(`?q=${number.toLowerCase()}`)).toEqual([unpaid.orderId]);
});

test('the list has pages', async () => {
  const first = (await office.monolith.call('GET', `${ORDERS}?limit=2`, ops)).json;
  expect(await found(`?limit=2&cursor=${first.next_cursor}`)).toEqual([paid.orderId]);
});

test('a fan is not an operator', async () => {
  expect((await office.monolith.call('GET', ORDERS, { as: paid.held.userId })).json.code).toBe('FORBIDDEN');
});
