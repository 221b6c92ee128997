import { TransactionManager } from '#application/transaction-manager';
import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { FakeStripe } from '../../payment/testing/fake-stripe.ts';
import { PaymentApi } from '../../payment/payment.api.ts';
import { newKey } from '../../testing/test-app.ts';
import { grantTurn, ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';
import { RefundActions } from '../testing/refunding.ts';
import { PlaceOrders } from './application/place-orders.ts';
import { CheckOut } from './application/check-out.ts';
import { OrderConsequences, Orders } from './application/ports.ts';

/** A fake Stripe that records every request. Free orders must not send a request to it. */
const peer = new FakeStripe();
let opened: OpenBoxOffice;
let office: BoxOffice;
let actions: RefundActions;

beforeAll(async () => {
  const base = await peer.start();
  opened = await openBoxOffice({ PAYMENT_PROVIDER: 'stripe', STRIPE_API_BASE: base, STRIPE_SECRET_KEY: peer.secretKey });
  office = opened.office;
  actions = new RefundActions(office);
});
beforeEach(() => void (peer.requests.length = 0));
afterAll(async () => {
  await opened.close();
  await peer.stop();
});

const FREE = 0;
const PAID = 1;
const onSale = (facts = {}): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { sectors: [{ ...seated('Family'), price_cents: 0 }, seated('East A')], ...facts });
const ordersOf = async ({ userId }: Pick<HeldSeats, 'userId'>) =>
  (await office.monolith.call('GET', '/api/v1/orders', { as: userId })).json.items;
const ticketsOf = async ({ userId }: Pick<HeldSeats, 'userId'>) =>
  (await office.monolith.call('GET', '/api/v1/tickets', { as: userId })).json.items;
async function expectInvariantsHold(match: MatchOnSale): Promise<void> {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
}

describe('checkout of free seats', () => {
  let match: MatchOnSale;
  beforeAll(async () => void (match = await onSale()));

  test('a free checkout completes the order: tickets, sold seats, two mails, a push, and no request to the provider', async () => {
    const held = await office.held(match, { sector: FREE, quantity: 2 });
    await office.monolith.call('PUT', '/api/v1/me/devices/phone', { as: held.userId, body: { fcm_token: 'token-of-ana' } });
    const { status, json, headers } = await office.checkOut(held);
    expect([status, json, headers.location]).toEqual([
      201,
      { order_id: json.order_id, number: expect.stringMatching(/^ORD-\d{4}-\d{6}$/), status: 'completed', payment: null },
      `/api/v1/orders/${json.order_id}`,
    ]);
    expect(await ordersOf(held)).toMatchObject([
      {
        id: json.order_id,
        status: 'completed',
        total_cents: 0,
        tickets: [{ status: 'valid' }, { status: 'valid' }],
        timeline: [{ event: 'created' }, { event: 'completed' }],
      },
    ]);
    expect((await ticketsOf(held)).map(({ holder_name }: { holder_name: string }) => holder_name).sort()).toEqual([
      'Fan 1',
      'Fan 2',
    ]);
    expect([await office.reservation(held), await office.holderOf(held.seatIds[0] ?? '')]).toEqual([
      'completed',
      { status: 'sold', reservation_id: held.id },
    ]);
    const messages = (await office.outbox(json.order_id)).map(({ destination, body }) => `${destination}: ${body.template}`);
    expect(messages).toEqual(['email: order_confirmation', 'email: ticket_delivery', 'push: ticket_delivery']);
    expect([peer.requests, await office.rows(`select from order_intents where order_id = $1`, [json.order_id])]).toEqual([
      [],
      [],
    ]);
    await expectInvariantsHold(match);
  });

  test('a free checkout repeated with another idempotency key is 200 with the same order; repeated with the same key, it gets the first answer', async () => {
    const held = await office.held(match);
    const key = newKey();
    const first = await office.checkOut(held, { key });
    const [other, same] = [await office.checkOut(held), await office.checkOut(held, { key })];
    expect([other.status, other.json, other.headers.location]).toEqual([200, first.json, undefined]);
    expect([same.status, same.text, same.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
    expect([await ordersOf(held), await ticketsOf(held)]).toEqual([[expect.anything()], [expect.anything()]]);
  });

  test('a free checkout sent twenty times at once creates one order with one ticket', async () => {
    const held = await office.held(match);
    const answers = await Promise.all(Array.from({ length: 20 }, () => office.checkOut(held)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await ticketsOf(held)).toHaveLength(1);
  });

  test.each<[string, (held: HeldSeats) => Promise<unknown>, string]>([
    ['released', (held) => office.release(held), 'INVALID_STATE'],
    ['expired', (held) => office.lapse(held), 'RESERVATION_EXPIRED'],
  ])('a free checkout is refused if the hold is %s', async (_, end, code) => {
    const held = await office.held(match);
    await end(held);
    expect((await office.checkOut(held)).json.code).toBe(code);
    expect(await ordersOf(held)).toEqual([]);
  });

  test("a free checkout is refused for another fan's hold and for wrong holders", async () => {
    const held = await office.held(match);
    const refusals = [
      await office.checkOut(held, { as: randomUUID() }),
      await office.checkOut(held, { holders: [{ seat_id: randomUUID(), name: 'Ana' }] }),
    ];
    expect(refusals.map(({ json }) => json.code)).toEqual(['NOT_FOUND', 'VALIDATION_FAILED']);
    expect([await ordersOf(held), await office.reservation(held)]).toEqual([[], 'held']);
  });

  test('a free checkout is refused if the fan was blacklisted after the hold, and the seats stay held', async () => {
    const held = await office.held(match);
    const body = { user_id: held.userId, reason: 'resold tickets' };
    expect((await office.monolith.call('POST', '/api/v1/ops/blacklist', { ...ops, body })).status).toBe(201);
    const { status, json } = await office.checkOut(held);
    expect([status, json.code, await ordersOf(held), await office.reservation(held)]).toEqual([403, 'BLACKLISTED', [], 'held']);
  });

  test("free tickets count against the fan's ticket limit", async () => {
    const as = randomUUID();
    await office.checkOut(await office.held(match, { as, quantity: 3 }));
    const { json } = await office.hold(match, { as, quantity: 2 });
    expect([json.code, json.limit, json.rest]).toEqual(['TICKET_LIMIT_REACHED', 4, 1]);
  });
});

test('a completed free order ends its turn: a message tells the waiting room, and the other holds of the turn are released', async () => {
  const match = await onSale({ queue_required: true });
  const as = randomUUID();
  const turn = await grantTurn(office.monolith, match.id, as);
  const other = await office.held(match, { as, turn, sector: PAID });
  const { json } = await office.checkOut(await office.held(match, { as, turn, sector: FREE }));
  expect([json.status, await office.reservation(other)]).toEqual(['completed', 'released']);
  expect((await office.checkOut(other)).json.code).toBe('INVALID_STATE');
  expect(await office.rows(`select end_reason from purchase_windows where session_token = $1`, [turn])).toEqual([
    { end_reason: 'completed' },
  ]);
  expect(await office.rows(`select body from outbox where body ->> 'session_token' = $1`, [turn])).toEqual([
    { body: { kind: 'complete', match_id: match.id, user_id: as, session_token: turn } },
  ]);
  expect((await office.hold(match, { as, turn })).json.code).toBe('PURCHASE_WINDOW_REQUIRED');
  await expectInvariantsHold(match);
});

test('a free checkout is refused while another order of the turn awaits payment, and succeeds after that order has expired', async () => {
  const match = await onSale({ queue_required: true });
  const as = randomUUID();
  const turn = await grantTurn(office.monolith, match.id, as);
  const first = await office.ordered(await office.held(match, { as, turn, sector: PAID }));
  const free = await office.held(match, { as, turn, sector: FREE });
  const refused = await office.checkOut(free);
  expect([refused.json.code, refused.json.order_id]).toEqual(['INVALID_STATE', first.orderId]);
  await office.lapse(first.held);
  expect((await office.checkOut(free)).json.status).toBe('completed');
  await expectInvariantsHold(match);
});

describe('concurrent checkouts', () => {
  test('concurrent checkouts of free and paid seats each get the same answer as they would get alone', async () => {
    const match = await onSale();
    const free = await Promise.all(Array.from({ length: 8 }, () => office.held(match, { sector: FREE })));
    const paid = await Promise.all(Array.from({ length: 8 }, () => office.held(match, { sector: PAID })));
    const answers = await Promise.all([...free, ...paid].map((held) => office.checkOut(held)));
    expect(answers.map(({ status, json }) => `${status} ${json.status}`)).toEqual([
      ...free.map(() => '201 completed'),
      ...paid.map(() => '201 awaiting_payment'),
    ]);
    expect(peer.requests).toHaveLength(paid.length);
    expect(await office.seatRows(match)).toEqual({ sold: 8, held: 8, available: 84 });
    await expectInvariantsHold(match);
  });

  test('a free checkout with a locked seat waits and is not completed in part; concurrent free checkouts do not wait for it', async () => {
    const match = await onSale();
    const [locked, ...others] = await Promise.all(Array.from({ length: 4 }, () => office.held(match, { quantity: 2 })));
    const holder = office.monolith.dataSource.createQueryRunner();
    await holder.startTransaction();
    await holder.query('select 1 from seats where id = $1 for update', [locked?.seatIds[0]]);
    const waiting = office.checkOut(locked as HeldSeats);
    const answers = await Promise.all(others.map((held) => office.checkOut(held)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await ordersOf(locked as HeldSeats)).toEqual([]);
    await holder.rollbackTransaction();
    await holder.release();
    expect((await waiting).status).toBe(201);
    expect(await ticketsOf(locked as HeldSeats)).toHaveLength(2);
    await expectInvariantsHold(match);
  });
});

test('a free checkout whose process dies before the commit leaves nothing, and a repeated one completes the order', async () => {
  const match = await onSale();
  const held = await office.held(match);
  const resolve = <T>(token: abstract new (...dependencies: never[]) => T) => office.monolith.get(token as never) as T;
  const crash = new Error('killed');
  class DyingConsequences extends OrderConsequences {
    async completed(...args: Parameters<OrderConsequences['completed']>): Promise<void> {
      await resolve(OrderConsequences).completed(...args);
      throw crash;
    }
    refunded = (): Promise<void> => Promise.reject(crash);
    cancelled = (): Promise<void> => Promise.reject(crash);
  }
  const checkOut = new CheckOut(
    ...[resolve(TransactionManager), resolve(PlaceOrders), resolve(Reservations), resolve(Orders), resolve(PaymentApi)],
    new DyingConsequences(),
  );
  const command = {
    reservationId: held.id,
    userId: held.userId,
    holders: held.seatIds.map((seatId) => ({ seatId, name: 'Ana' })),
    email: 'ana@example.hr',
  };
  await expect(checkOut.execute(command)).rejects.toBe(crash);
  expect([await ordersOf(held), await ticketsOf(held), await office.reservation(held)]).toEqual([[], [], 'held']);
  expect((await office.checkOut(held)).status).toBe(201);
  await expectInvariantsHold(match);
});

test('a refund of a free order sends no request to the provider, and the report of the match shows no revenue', async () => {
  const match = await onSale();
  const held = await office.held(match, { quantity: 2 });
  const orderId = (await office.checkOut(held)).json.order_id as string;
  expect(await actions.report(match)).toMatchObject({ sold: 2, revenue_cents: 0, orders: { completed: 1 } });
  const [first] = await actions.tickets({ orderId });
  expect((await actions.refund({ orderId }, [first?.id ?? ''])).json.status).toBe('completed');
  const { status, json } = await actions.refund({ orderId });
  expect([status, json.status, json.refund.amount_cents]).toEqual([200, 'refunded', 0]);
  expect(await actions.report(match)).toMatchObject({
    sold: 0,
    available: 100,
    refunded: 2,
    revenue_cents: 0,
    orders: { refunded: 1 },
  });
  await actions.relay('payments');
  expect([peer.requests, await office.rows(`select from outbox where destination = 'payments'`)]).toEqual([[], []]);
  expect(await actions.mails({ orderId })).toEqual(['0.00 EUR', '0.00 EUR']);
  expect((await office.checkOut(held)).json).toMatchObject({ order_id: orderId, status: 'refunded', payment: null });
  expect((await office.hold(match, { seatIds: held.seatIds })).status).toBe(201);
  await expectInvariantsHold(match);
});
