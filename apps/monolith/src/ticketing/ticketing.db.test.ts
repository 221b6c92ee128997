import { newId } from '#platform/ids';
import { isUniqueViolation } from '#platform/postgres/sqlstates';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { openTestApp, type TestApp } from '../testing/test-app.ts';
import { TicketCodes } from './ticket-codes.ts';
import { TicketingApi, type IssuedTicket } from './ticketing.api.ts';
import { TicketingModule } from './ticketing.module.ts';

let database: TestDatabase;
let redis: TestRedis;
let testApp: TestApp;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  testApp = await openTestApp([TicketingModule], { DATABASE_URL: database.url, REDIS_URL: redis.url });
});
afterAll(async () => {
  await testApp.close();
  await Promise.all([database.close(), redis.close()]);
});

const seat = (number: number) => ({ seatId: newId(), sector: 'North A', row: '12', number, holderName: `Holder ${number}` });
const newOrder = (count = 2, userId: string = randomUUID()) => ({
  orderId: newId(),
  matchId: newId(),
  userId,
  seats: Array.from({ length: count }, (_, index) => seat(index + 1)),
});
const issue = async (order: ReturnType<typeof newOrder>): Promise<readonly IssuedTicket[]> => {
  const issued = await testApp.transactions.run((tx) => testApp.app.get(TicketingApi).issue(tx, [order]));
  return issued.get(order.orderId) ?? [];
};
const setStatus = (id: string | undefined, status: string) =>
  testApp.dataSource.query('update tickets set status = $2 where id = $1', [id, status]);

describe('TicketingApi', () => {
  test('issue makes one ticket for each seat, in the order of the seats', async () => {
    const order = newOrder(3);
    const tickets = await issue(order);
    expect(tickets).toEqual(
      order.seats.map((wanted) => ({ ...wanted, id: expect.any(String), status: 'valid', code: expect.any(String) })),
    );
    const ofOrders = await testApp.app.get(TicketingApi).ofOrders([order.orderId]);
    expect(ofOrders.get(order.orderId)).toEqual(tickets.map(({ id, status }) => ({ id, status })));
  });

  test('issue gives each ticket a code with its id, match id and serial 1', async () => {
    const order = newOrder(1);
    const [ticket] = await issue(order);
    expect(testApp.app.get(TicketCodes).read(ticket?.code ?? '')).toEqual({
      ticketId: ticket?.id,
      matchId: order.matchId,
      serial: 1,
    });
  });

  test('issue in a transaction that rolls back leaves no ticket', async () => {
    const order = newOrder();
    const failed = testApp.transactions.run(async (tx) => {
      await testApp.app.get(TicketingApi).issue(tx, [order]);
      throw new Error('roll back');
    });
    await expect(failed).rejects.toThrow('roll back');
    expect((await testApp.app.get(TicketingApi).ofOrders([order.orderId])).get(order.orderId)).toEqual([]);
  });

  test('issue of a second ticket for a seat with a valid or used ticket is refused by the database', async () => {
    const order = newOrder(1);
    const [first] = await issue(order);
    const again = { ...order, orderId: newId(), userId: randomUUID() };
    for (const status of ['valid', 'used']) {
      await setStatus(first?.id, status);
      const error = await issue(again).catch((thrown: unknown) => thrown);
      expect(isUniqueViolation(error, 'tickets_one_a_seat')).toBe(true);
    }
    await setStatus(first?.id, 'refunded');
    expect(await issue(again)).toHaveLength(1);
  });

  test('ofOrders returns no tickets for an unknown order', async () => {
    const orderId = newId();
    expect(await testApp.app.get(TicketingApi).ofOrders([orderId])).toEqual(new Map([[orderId, []]]));
    expect((await testApp.app.get(TicketingApi).ofOrders([])).size).toBe(0);
  });
});

describe('GET /tickets', () => {
  test('returns exactly the fields of the contract for one ticket', async () => {
    const order = newOrder(1);
    const [ticket] = await issue(order);
    const answer = await testApp.call('GET', `/api/v1/tickets/${ticket?.id}`, { as: order.userId });
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json).toEqual({
      id: ticket?.id,
      order_id: order.orderId,
      match_id: order.matchId,
      seat: { seat_id: ticket?.seatId, sector: 'North A', row: '12', number: 1 },
      holder_name: 'Holder 1',
      status: 'valid',
      code: ticket?.code,
    });
  });

  test('returns null as row and number of a standing place', async () => {
    const order = newOrder(1);
    const [ticket] = await issue({ ...order, seats: [{ ...seat(1), row: null, number: null }] } as never);
    const { json } = await testApp.call('GET', `/api/v1/tickets/${ticket?.id}`, { as: order.userId });
    expect(json.seat).toMatchObject({ row: null, number: null });
  });

  test('returns all tickets of the caller and of no other fan in pages, newest first', async () => {
    const userId = randomUUID();
    await issue(newOrder(2));
    const issued = [...(await issue(newOrder(3, userId))), ...(await issue(newOrder(2, userId)))].map(({ id }) => id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor ? `&cursor=${cursor}` : '';
      const { status, json } = await testApp.call('GET', `/api/v1/tickets?limit=2&nonsense=1${query}`, { as: userId });
      expect(status).toBe(200);
      seen.push(...json.items.map(({ id }: { id: string }) => id));
      cursor = json.next_cursor;
    } while (cursor);
    expect(seen).toEqual([...issued].sort().reverse());
  });

  test('returns an empty list for a fan without tickets', async () => {
    const { json } = await testApp.call('GET', '/api/v1/tickets', { as: randomUUID() });
    expect(json).toEqual({ items: [], next_cursor: null });
  });

  test.each(['limit=0', 'limit=101', 'limit=two', 'limit=1&limit=2', 'cursor=zzz', 'cursor=', 'cursor=MScgb3IgMT0x'])(
    'refuses the query ?%s',
    async (query) => {
      const answer = await testApp.call('GET', `/api/v1/tickets?${query}`, { as: randomUUID() });
      expect([answer.status, answer.json.code]).toEqual([400, 'VALIDATION_FAILED']);
    },
  );

  test.each(['', '/qr.svg'])(
    "answers 404 for another fan's ticket, as for an unknown ticket (suffix of the path: '%s')",
    async (suffix) => {
      const [ticket] = await issue(newOrder(1));
      const foreign = await testApp.call('GET', `/api/v1/tickets/${ticket?.id}${suffix}`, { as: randomUUID() });
      const unknown = await testApp.call('GET', `/api/v1/tickets/${newId()}${suffix}`, { as: randomUUID() });
      expect([foreign.status, foreign.json.code, foreign.json.detail]).toEqual([404, 'NOT_FOUND', unknown.json.detail]);
    },
  );

  test.each(['1', 'abc', '00000000-0000-0000-0000-00000000000g', '%00', `${'0'.repeat(36)}'`])(
    'refuses %s as a ticket id',
    async (id) => {
      const answer = await testApp.call('GET', `/api/v1/tickets/${id}`, { as: randomUUID() });
      expect([answer.status, answer.json.code]).toEqual([400, 'VALIDATION_FAILED']);
    },
  );

  test.each(['/api/v1/tickets', `/api/v1/tickets/${newId()}`, `/api/v1/tickets/${newId()}/qr.svg`])(
    'needs a caller for %s',
    async (url) => {
      expect((await testApp.call('GET', url)).status).toBe(401);
    },
  );
});

describe('the QR code', () => {
  test('is an SVG that must not be cached', async () => {
    const order = newOrder(1);
    const [ticket] = await issue(order);
    const answer = await testApp.call('GET', `/api/v1/tickets/${ticket?.id}/qr.svg`, { as: order.userId });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': 'no-store' });
    expect(answer.text).toMatch(/^<svg /);
  });

  test.each(['transferred', 'refunded'])('of a ticket that was %s is refused', async (status) => {
    const order = newOrder(1);
    const [ticket] = await issue(order);
    await setStatus(ticket?.id, status);
    const answer = await testApp.call('GET', `/api/v1/tickets/${ticket?.id}/qr.svg`, { as: order.userId });
    expect([answer.status, answer.json.code]).toEqual([409, 'INVALID_STATE']);
    expect(answer.headers['content-type']).toMatch(/problem\+json/);
  });
});
