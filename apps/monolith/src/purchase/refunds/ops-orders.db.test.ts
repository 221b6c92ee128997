import { randomUUID } from 'node:crypto';
import { ops, putOnSale, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { ExpireReservations } from '../hold/application/expire-reservations.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice, type Ordered } from '../testing/box-office.ts';

const ORDERS = '/api/v1/ops/orders';
let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let paid: Ordered;
let unpaid: Ordered;
let ofAnotherMatch: Ordered;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith);
  paid = await office.ordered(await office.held(match, { quantity: 2 }));
  await office.settle(office.report(paid));
  unpaid = await office.ordered(await office.held(match));
  ofAnotherMatch = await office.ordered(await office.held(await putOnSale(office.monolith)));
});
afterAll(async () => opened.close());

const findIds = async (query = ''): Promise<string[]> =>
  (await office.monolith.call('GET', `${ORDERS}${query}`, ops)).json.items.map(({ id }: { id: string }) => id);

test('operators see the orders of all fans, newest first, with the fan and the tickets', async () => {
  const { items } = (await office.monolith.call('GET', ORDERS, ops)).json;
  expect(items.map(({ id }: { id: string }) => id)).toEqual([ofAnotherMatch.orderId, unpaid.orderId, paid.orderId]);
  expect(items[2]).toMatchObject({
    status: 'completed',
    user_id: paid.held.userId,
    email: 'ana@example.hr',
    tickets: [{ status: 'valid' }, { status: 'valid' }],
  });
});

test('the tickets in the list of operators have the seat and the name of their holder; those of the fan have neither', async () => {
  const [order] = (await office.monolith.call('GET', `${ORDERS}?q=${paid.intentId}`, ops)).json.items;
  const rows = await office.rows<Record<'id' | 'seat_id' | 'sector' | 'row_label' | 'number' | 'holder_name', unknown>>(
    'select * from tickets where order_id = $1 order by id',
    [paid.orderId],
  );
  expect(order.tickets).toEqual(
    rows.map(({ id, seat_id, sector, row_label: row, number, holder_name }) => ({
      ...{ id, status: 'valid', holder_name },
      seat: { seat_id, sector, row, number },
    })),
  );
  const own = (await office.monolith.call('GET', `/api/v1/orders/${paid.orderId}`, { as: paid.held.userId })).json;
  expect(own.tickets).toEqual(rows.map(({ id }) => ({ id, status: 'valid' })));
});

test.each([
  ['match', () => `?match_id=${match.id}`, () => [unpaid.orderId, paid.orderId]],
  ['fan', () => `?user_id=${unpaid.held.userId}`, () => [unpaid.orderId]],
  ['status', () => '?status=completed', () => [paid.orderId]],
  ['payment intent id', () => `?q=${paid.intentId}`, () => [paid.orderId]],
  ['email address in capital letters', () => '?q=ANA@example.hr', () => [ofAnotherMatch.orderId, unpaid.orderId, paid.orderId]],
  ['a part of an email address', () => '?q=example.hr', () => [ofAnotherMatch.orderId, unpaid.orderId, paid.orderId]],
  ['match and status', () => `?match_id=${match.id}&status=completed`, () => [paid.orderId]],
  ['an unknown fan, which finds nothing', () => `?user_id=${randomUUID()}`, () => []],
])('operators search orders by %s', async (_what, query, expected) => {
  expect(await findIds(query())).toEqual(expected());
});

test('operators search orders by order number in any case', async () => {
  const { number } = await office.order(unpaid);
  expect(await findIds(`?q=${number.toLowerCase()}`)).toEqual([unpaid.orderId]);
});

describe('a part of', () => {
  let ticketId: string;
  let number: string;
  let otherMatchId: string;
  beforeAll(async () => {
    ticketId = await idIn('select id from tickets where order_id = $1 limit 1', paid);
    await office.rows(`update tickets set holder_name = '50%_Đuro Šćepan\\' where id = $1`, [ticketId]);
    ({ number } = await office.order(paid));
    otherMatchId = await idIn('select match_id as id from orders where id = $1', ofAnotherMatch);
  });
  const find = (q: string, ofMatch: boolean) =>
    findIds(`?q=${encodeURIComponent(q)}&limit=100${ofMatch ? `&match_id=${match.id}` : ''}`);

  test.each<[string, () => string]>([
    ['the number', () => number.slice(3, -1).toLowerCase()],
    ['the e-mail address', () => 'A@EXAMPLE.h'],
    ['the name of a ticket holder in another case', () => 'đURO šĆep'],
    ['a name with the characters %, _ and \\', () => '0%_đuro šćepan\\'],
    ['the ticket id', () => ticketId.slice(10)],
    ['the ticket id as mails show it', () => ticketId.replaceAll('-', '').slice(-8).toUpperCase()],
  ])('%s finds an order of the match, and a new one without a match', async (_what, text) => {
    expect(await find(text(), true)).toContain(paid.orderId);
    expect(await find(text(), false)).toContain(paid.orderId);
    expect(await findIds(`?q=${encodeURIComponent(text())}&match_id=${otherMatchId}`)).not.toContain(paid.orderId);
  });

  test.each(['used', 'transferred', 'refunded'])(
    'the name of a holder finds an order of the match when the ticket is %s',
    async (status) => {
      await office.rows('update tickets set status = $2 where id = $1', [ticketId, status]);
      expect(await find('Šćepan', true)).toEqual([paid.orderId]);
      await office.rows(`update tickets set status = 'valid' where id = $1`, [ticketId]);
    },
  );

  test.each<[string, () => string]>([
    ['the end of the number', () => number.slice(-4)],
    ['the beginning of the number', () => number.slice(0, -1)],
    ['the year and the number', () => number.slice(4)],
    ['the beginning of the e-mail address in capital letters', () => 'ANA@EX'],
    ['the ticket id', () => ticketId],
    ['the beginning of the ticket id', () => ticketId.slice(0, 20)],
  ])('%s finds an order of any match', async (_what, text) => {
    expect(await find(text(), false)).toContain(paid.orderId);
  });

  test.each(['%', '_', 'an%', 'a_a', '\\', '%%%', 'ana_example', '__________'])(
    'the characters %%, _ and \\ have no special meaning in %j: it finds only orders that contain this text',
    async (text) => {
      const holders = '50%_Đuro Šćepan\\'.includes(text) ? [paid.orderId] : [];
      expect([await find(text, true), await find(text, false)]).toEqual([holders, holders]);
    },
  );

  describe('of an order that 10,000 newer ones and their tickets follow', () => {
    beforeAll(() =>
      office.rows(
        `with newer as (
           insert into orders (id, number, match_id, reservation_id, user_id, claims_window, status, total_cents, currency, email, holders, provider)
           select ('ffffffff-ffff-7fff-8fff-' || lpad(n::text, 12, 'a'))::uuid, 'NEW-' || n, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), false,
                  'completed', 2500, 'EUR', 'new@nowhere.org', '[]', 'sandbox' from generate_series(1, 10000) as numbers (n) returning id
         )
         insert into tickets (id, order_id, match_id, user_id, seat_id, sector, holder_name)
         select id, id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'A', 'Nova Osoba' from newer`,
      ),
    );
    afterAll(async () => {
      await office.rows(`delete from tickets where holder_name = 'Nova Osoba'`);
      await office.rows(`delete from orders where number like 'NEW-%'`);
    });

    test.each<[string, () => string]>([
      ['the end of the number', () => number.slice(-4)],
      ['the beginning of the number', () => number.slice(0, -1)],
      ['the beginning of the e-mail address', () => 'ana@ex'],
      ['the beginning of the ticket id', () => ticketId.slice(0, 20)],
    ])('%s still finds it', async (_what, text) => {
      expect(await find(text(), false)).toContain(paid.orderId);
    });

    test.each<[string, () => string]>([
      ['the middle of the number', () => number.slice(5, -1)],
      ['the end of the e-mail address', () => 'example.hr'],
      ['the name of a holder', () => 'šćepan'],
      ['the end of the ticket id', () => ticketId.slice(-8)],
    ])('%s finds it with its match only', async (_what, text) => {
      expect(await find(text(), false)).not.toContain(paid.orderId);
      expect(await find(text(), true)).toContain(paid.orderId);
    });
  });
});

test('the order list of operators has pages', async () => {
  const first = (await office.monolith.call('GET', `${ORDERS}?limit=2`, ops)).json;
  expect(await findIds(`?limit=2&cursor=${first.next_cursor}`)).toEqual([paid.orderId]);
});

test('a fan who asks for the order list of operators is refused', async () => {
  expect((await office.monolith.call('GET', ORDERS, { as: paid.held.userId })).json.code).toBe('FORBIDDEN');
});

test('the order list of a status has the orders with this status, and no order that had it before', async () => {
  const [cancelled, expired, refunded] = [await ordered(), await ordered(), await ordered()];
  await office.release(cancelled.held);
  await office.settle(office.report(refunded));
  const refund = await office.monolith.call('POST', `${ORDERS}/${refunded.orderId}/refund`, { ...ops, body: {} });
  expect(refund.status).toBe(200);
  await expire(expired);
  const statuses = ['awaiting_payment', 'completed', 'cancelled', 'expired', 'refunded'];
  expect(await Promise.all(statuses.map((status) => findIds(`?match_id=${match.id}&status=${status}`)))).toEqual([
    [unpaid.orderId],
    [paid.orderId],
    [cancelled.orderId],
    [expired.orderId],
    [refunded.orderId],
  ]);
  expect(await findIds('?status=awaiting_payment')).toEqual([ofAnotherMatch.orderId, unpaid.orderId]);

  // A payment that arrives after the hold has ended completes the order, if its seats are still free.
  await office.settle(office.report(expired));
  expect([await findIds('?status=expired'), await findIds(`?match_id=${match.id}&status=completed`)]).toEqual([
    [],
    [expired.orderId, paid.orderId],
  ]);
});

async function idIn(sql: string, { orderId }: Ordered): Promise<string> {
  const [row] = await office.rows<{ id: string }>(sql, [orderId]);
  return row!.id;
}

const ordered = async (): Promise<Ordered> => office.ordered(await office.held(match));

async function expire({ held }: Ordered): Promise<void> {
  for (const table of ['reservations', 'seats']) {
    const text = `update ${table} set expires_at = now() - interval '1 second' where id = any($1::uuid[])`;
    await office.rows(text, [[held.id, ...held.seatIds]]);
  }
  await office.monolith.get(ExpireReservations).execute();
}
