import { TransactionManager } from '#application/transaction-manager';
import { randomUUID } from 'node:crypto';
import { PaymentApi } from '../../payment/payment.api.ts';
import { newKey } from '../../testing/test-app.ts';
import { grantTurn, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';
import { PlaceOrders } from './application/place-orders.ts';
import { CheckOut } from './application/check-out.ts';
import { OrderConsequences, Orders, type Payments } from './application/ports.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 10, 20)] });
});
afterAll(() => opened.close());

const ordersOf = (held: HeldSeats) =>
  office.rows<{ status: string; intent_id: string | null }>(`select status, intent_id from orders where reservation_id = $1`, [
    held.id,
  ]);

describe('checkout', () => {
  test('a checkout creates an order of the hold and an intent for its total', async () => {
    const held = await office.held(match, { quantity: 2 });
    const { status, json, headers } = await office.checkOut(held);
    expect([status, json.status, headers.location]).toEqual([201, 'awaiting_payment', `/api/v1/orders/${json.order_id}`]);
    expect(json.number).toMatch(/^ORD-\d{4}-\d{6}$/);
    expect(json.payment.confirm_url).toContain(json.payment.intent_id);
    expect(await office.reservation(held)).toBe('ordered');
    const order = (await office.monolith.call('GET', `/api/v1/orders/${json.order_id}`, { as: held.userId })).json;
    expect(order).toMatchObject({
      status: 'awaiting_payment',
      total_cents: 5000,
      reservation_id: held.id,
      tickets: [],
      timeline: [{ event: 'created' }],
    });
    expect(await office.rows(`select amount_cents from sandbox_intents where order_id = $1`, [json.order_id])).toEqual([
      { amount_cents: 5000 },
    ]);
  });

  test('a repeated checkout with another idempotency key and other holder names is 200 with the same order', async () => {
    const held = await office.held(match);
    const first = await office.checkOut(held);
    const again = await office.checkOut(held, { holders: [{ seat_id: held.seatIds[0], name: 'Somebody Else' }] });
    expect([again.status, again.json, again.headers.location]).toEqual([200, first.json, undefined]);
    expect(await ordersOf(held)).toHaveLength(1);
  });

  test('a checkout sent twenty times at once creates one order', async () => {
    const held = await office.held(match);
    const answers = await Promise.all(Array.from({ length: 20 }, () => office.checkOut(held)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await ordersOf(held)).toHaveLength(1);
  });

  test('a checkout repeated with the same idempotency key gets the same answer, with the header idempotency-replayed', async () => {
    const held = await office.held(match);
    const key = newKey();
    const first = await office.checkOut(held, { key });
    const again = await office.checkOut(held, { key });
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
  });

  test.each<[string, (held: HeldSeats) => unknown]>([
    ['one seat missing', ({ seatIds }) => [{ seat_id: seatIds[0], name: 'A' }]],
    ['one seat too many', ({ seatIds }) => [...seatIds, randomUUID()].map((seat_id) => ({ seat_id, name: 'A' }))],
    ['one seat twice', ({ seatIds }) => [seatIds[0], seatIds[0]].map((seat_id) => ({ seat_id, name: 'A' }))],
    ['a seat that is not in the hold', ({ seatIds }) => [seatIds[0], randomUUID()].map((seat_id) => ({ seat_id, name: 'A' }))],
    ['no entry', () => []],
    ['empty names', ({ seatIds }) => seatIds.map((seat_id) => ({ seat_id, name: ' ' }))],
  ])('a checkout whose holder list has %s is 400 and creates no order', async (_, holders) => {
    const held = await office.held(match, { quantity: 2 });
    const { status, json } = await office.checkOut(held, { holders: holders(held) });
    expect([status, json.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect([await ordersOf(held), await office.reservation(held)]).toEqual([[], 'held']);
  });

  test("a checkout of another fan's hold or of an unknown hold is 404", async () => {
    const held = await office.held(match);
    expect((await office.checkOut(held, { as: randomUUID() })).json.code).toBe('NOT_FOUND');
    expect((await office.checkOut({ ...held, id: randomUUID() })).json.code).toBe('NOT_FOUND');
  });

  test('a checkout of an expired, released or paid hold is refused', async () => {
    const [expired, released, paid] = await Promise.all([office.held(match), office.held(match), office.held(match)]);
    await office.lapse(expired);
    await office.release(released);
    await office.settle(office.report(await office.ordered(paid)));
    const refusals = await Promise.all([expired, released, paid].map((held) => office.checkOut(held)));
    expect(refusals.map(({ json }) => json.code)).toEqual(['RESERVATION_EXPIRED', 'INVALID_STATE', 'INVALID_STATE']);
  });

  test('a repeated checkout after the hold has expired is refused, although its order exists', async () => {
    const { held } = await office.ordered(await office.held(match));
    await office.lapse(held);
    expect((await office.checkOut(held)).json.code).toBe('RESERVATION_EXPIRED');
  });
});

describe('one order for each turn:', () => {
  let turns: MatchOnSale;
  let as: string;
  let turn: string;
  beforeAll(async () => {
    turns = await putOnSale(office.monolith, { queue_required: true, sectors: [seated('East A', 10, 20)] });
  });
  beforeEach(async () => {
    as = randomUUID();
    turn = await grantTurn(office.monolith, turns.id, as);
  });

  test('while an order of the turn awaits payment, a second checkout is 409 with the id of that order', async () => {
    const first = await office.ordered(await office.held(turns, { as, turn }));
    const second = await office.held(turns, { as, turn });
    const { status, json } = await office.checkOut(second);
    expect([status, json.code, json.order_id]).toEqual([409, 'INVALID_STATE', first.orderId]);
    expect(await office.reservation(second)).toBe('held');
  });

  test.each<[string, (held: HeldSeats) => Promise<unknown>]>([
    ['was cancelled', (held) => office.release(held)],
    ['has expired', (held) => office.lapse(held)],
    [
      'has expired and was ended by the expiry sweeper',
      async (held) => {
        await office.lapse(held);
        await office.monolith.get(Reservations).expireDueReservations(200);
      },
    ],
  ])('after the first order %s, a second checkout of the turn succeeds', async (_, end) => {
    const first = await office.ordered(await office.held(turns, { as, turn }));
    await end(first.held);
    const second = await office.held(turns, { as, turn });
    expect((await office.checkOut(second)).status).toBe(201);
  });

  test('of two holds of a turn checked out at the same time, one gets an order and the other is 409', async () => {
    const [first, second] = [await office.held(turns, { as, turn }), await office.held(turns, { as, turn })];
    const answers = await Promise.all([office.checkOut(first), office.checkOut(second)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test('after the payment of the first order was refunded, a second checkout of the turn succeeds', async () => {
    const first = await office.ordered(await office.held(turns, { as, turn }));
    const second = await office.held(turns, { as, turn });
    expect(await office.settle(office.report(first, { amountCents: 1 }))).toBe('refunded');
    expect((await office.checkOut(second)).status).toBe(201);
  });
});

describe('concurrent checkouts', () => {
  test('concurrent checkouts each get the same answer as they would get alone', async () => {
    const held = await Promise.all(Array.from({ length: 6 }, () => office.held(match)));
    const [plain, ordered, released, wrongHolders, foreign, twice] = held as [
      HeldSeats,
      HeldSeats,
      HeldSeats,
      HeldSeats,
      HeldSeats,
      HeldSeats,
    ];
    const first = await office.ordered(ordered);
    await office.release(released);
    const answers = await Promise.all([
      office.checkOut(plain),
      office.checkOut(ordered),
      office.checkOut(released),
      office.checkOut(wrongHolders, { holders: [] }),
      office.checkOut(wrongHolders, { holders: [{ seat_id: plain.seatIds[0], name: 'Ana' }] }),
      office.checkOut(foreign, { as: plain.userId }),
      office.checkOut(twice),
      office.checkOut(twice),
    ]);
    expect(answers.slice(0, 6).map(({ status, json }) => json.code ?? status)).toEqual([
      201,
      200,
      'INVALID_STATE',
      'VALIDATION_FAILED',
      'VALIDATION_FAILED',
      'NOT_FOUND',
    ]);
    expect(answers[1]?.json.order_id).toBe(first.orderId);
    expect(
      answers
        .slice(6)
        .map(({ status }) => status)
        .sort(),
    ).toEqual([200, 201]);
    expect(answers[6]?.json).toEqual(answers[7]?.json);
    expect(await ordersOf(wrongHolders)).toEqual([]);
  });

  test('a checkout waits while another transaction has locked its hold; concurrent checkouts of other holds do not wait for it', async () => {
    const [free, locked] = [await office.held(match), await office.held(match)];
    const holder = office.monolith.dataSource.createQueryRunner();
    await holder.startTransaction();
    await holder.query('select 1 from reservations where id = $1 for update', [locked.id]);
    const waiting = office.checkOut(locked);
    expect((await office.checkOut(free)).status).toBe(201);
    expect(await ordersOf(locked)).toEqual([]);
    await holder.rollbackTransaction();
    await holder.release();
    expect((await waiting).status).toBe(201);
  });
});

describe('crashes during checkout', () => {
  const resolve = <T>(token: abstract new (...dependencies: never[]) => T) => office.monolith.get(token as never) as T;
  /** The real checkout with real ports, except for the ports in the argument, which replace them. */
  const checkOutWith = (replaced: { transactions?: TransactionManager; payments?: Payments }) =>
    new CheckOut(
      replaced.transactions ?? resolve(TransactionManager),
      resolve(PlaceOrders),
      resolve(Reservations),
      resolve(Orders),
      replaced.payments ?? resolve(PaymentApi),
      resolve(OrderConsequences),
    );
  const command = (held: HeldSeats) => ({
    reservationId: held.id,
    userId: held.userId,
    holders: held.seatIds.map((seatId) => ({ seatId, name: 'Ana' })),
    email: 'ana@example.hr',
  });
  const crash = new Error('killed');

  test.each<[string, () => Parameters<typeof checkOutWith>[0]]>([
    ['before the provider is asked', () => ({ payments: { createIntent: () => Promise.reject(crash) } })],
    [
      'after the provider answered',
      () => ({
        payments: {
          createIntent: async (order) => {
            await resolve(PaymentApi).createIntent(order);
            throw crash;
          },
        },
      }),
    ],
    [
      'before the answer is committed',
      () => ({
        transactions: {
          run: () => Promise.reject(crash),
          runStep: (work) => resolve(TransactionManager).runStep(work),
          together: () => () => Promise.reject(crash),
          stepTogether: (work) => resolve(TransactionManager).stepTogether(work),
        },
      }),
    ],
  ])('a crash %s is repaired by a repeated checkout: one order, one intent', async (_, replacedPort) => {
    const held = await office.held(match);
    await expect(checkOutWith(replacedPort()).execute(command(held))).rejects.toBe(crash);
    expect(await ordersOf(held)).toEqual([{ status: 'awaiting_payment', intent_id: null }]);
    const { status, json } = await office.checkOut(held);
    expect(status).toBe(200);
    expect(await ordersOf(held)).toEqual([{ status: 'awaiting_payment', intent_id: json.payment.intent_id }]);
    expect(await office.rows(`select id from sandbox_intents where order_id = $1`, [json.order_id])).toEqual([
      { id: json.payment.intent_id },
    ]);
  });

  test.each<[string, (held: HeldSeats) => Promise<unknown>, string, string]>([
    ['released', (held) => office.release(held), 'INVALID_STATE', 'cancelled'],
    [
      'expired',
      async (held) => {
        await office.lapse(held);
        await resolve(Reservations).expireDueReservations(200);
      },
      'RESERVATION_EXPIRED',
      'expired',
    ],
  ])(
    'a checkout of a hold that was %s while the provider created the intent is refused, and the intent is cancelled',
    async (_, end, code, status) => {
      const held = await office.held(match);
      const payments: Payments = {
        createIntent: async (order) => {
          const intent = await resolve(PaymentApi).createIntent(order);
          await end(held);
          return intent;
        },
      };
      await expect(checkOutWith({ payments }).execute(command(held))).rejects.toMatchObject({ code });
      const [order] = await ordersOf(held);
      expect(order?.status).toBe(status);
      const [row] = await office.rows<{ id: string }>(`select id from orders where reservation_id = $1`, [held.id]);
      expect(await office.outbox(row?.id ?? '')).toEqual([
        { destination: 'payments', event: 'order.cancelled', body: { kind: 'cancel', intentId: order?.intent_id } },
      ]);
    },
  );

  test('a checkout answers with the completed order if the payment arrived before the intent was stored', async () => {
    const held = await office.held(match);
    const payments: Payments = {
      createIntent: async (order) => {
        const intent = await resolve(PaymentApi).createIntent(order);
        const report = office.report({ orderId: order.orderId, intentId: intent.intentId, held }, { orderId: order.orderId });
        expect(await office.settle(report)).toBe('completed');
        return intent;
      },
    };
    const { order } = await checkOutWith({ payments }).execute(command(held));
    expect([order.status, order.payment.provider, await office.reservation(held)]).toEqual(['completed', 'sandbox', 'completed']);
  });
});
