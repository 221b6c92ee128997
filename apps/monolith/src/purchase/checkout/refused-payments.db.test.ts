import { TransactionManager } from '#application/transaction-manager';
import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { FakeStripe } from '../../payment/testing/fake-stripe.ts';
import { PaymentApi } from '../../payment/payment.api.ts';
import { newKey } from '../../testing/test-app.ts';
import { grantTurn, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';
import { PlaceOrders } from './application/place-orders.ts';
import { CheckOut } from './application/check-out.ts';
import { OrderConsequences, Orders, type Payments } from './application/ports.ts';

const peer = new FakeStripe();
let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  const base = await peer.start();
  opened = await openBoxOffice({ PAYMENT_PROVIDER: 'stripe', STRIPE_API_BASE: base, STRIPE_SECRET_KEY: peer.secretKey });
  office = opened.office;
  match = await putOnSale(office.monolith, {
    queue_required: true,
    sectors: [{ ...seated('Cheap'), price_cents: 20 }, seated('East A')],
  });
});
afterAll(async () => {
  await opened.close();
  await peer.stop();
});

const ordersOf = async ({ userId }: HeldSeats) =>
  (await office.monolith.call('GET', '/api/v1/orders', { as: userId })).json.items;
const refusedAnswer = { status: 402, code: 'PAYMENT_REFUSED', reason: 'amount_too_small' };

/** A hold of two seats for 40 cents. Stripe refuses to create an intent for it, because Stripe's minimum is 50 cents. */
async function heldTooCheap(): Promise<HeldSeats & { readonly turn: string }> {
  const as = randomUUID();
  const turn = await grantTurn(office.monolith, match.id, as);
  return { ...(await office.held(match, { as, turn, quantity: 2 })), turn };
}

test('checkout: if the provider refuses the intent, the answer is 402 with its reason, no order exists, and the seats stay held', async () => {
  const held = await heldTooCheap();
  const { json, headers } = await office.checkOut(held);
  expect(json).toMatchObject(refusedAnswer);
  expect(headers['content-type']).toContain('application/problem+json');
  expect(await ordersOf(held)).toEqual([]);
  expect(await office.reservation(held)).toBe('held');
  expect(
    await office.rows(`select from order_timeline t where not exists (select from orders o where o.id = t.order_id)`),
  ).toEqual([]);
  const { invariants } = await verifyDatabase(office.monolith.dataSource);
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
});

test('checkout: a refusal by the provider is not stored as the answer: a repeat with the same idempotency key asks the provider again', async () => {
  const held = await heldTooCheap();
  const key = newKey();
  const first = await office.checkOut(held, { key });
  const requestsBefore = peer.requests.length;
  const again = await office.checkOut(held, { key });
  expect([first.status, again.status, again.headers['idempotency-replayed']]).toEqual([402, 402, undefined]);
  expect(peer.requests.length).toBe(requestsBefore + 1);
  // Raise the price, as if an operator had corrected it.
  await office.rows(`update reservations set price_cents = 2500, total_cents = 5000 where id = $1`, [held.id]);
  const paid = await office.checkOut(held, { key });
  expect([paid.status, paid.json.status, paid.headers['idempotency-replayed']]).toEqual([201, 'awaiting_payment', undefined]);
  expect((await ordersOf(held)).map(({ id }: { id: string }) => id)).toEqual([paid.json.order_id]);
});

test('checkout: a refused payment does not use up the turn; another hold of the turn can be checked out', async () => {
  const held = await heldTooCheap();
  expect((await office.checkOut(held)).status).toBe(402);
  const other = await office.held(match, { as: held.userId, turn: held.turn, sector: 1 });
  expect((await office.checkOut(other)).status).toBe(201);
  expect((await ordersOf(held)).map(({ reservation_id }: { reservation_id: string }) => reservation_id)).toEqual([other.id]);
});

test('checkout: ten concurrent requests for a refused payment all fail and leave no order', async () => {
  const held = await heldTooCheap();
  const answers = await Promise.all(Array.from({ length: 10 }, () => office.checkOut(held)));
  // While another request with the same key is running, Stripe answers 409 and we answer 503. Never 500.
  expect(answers.filter(({ status }) => status !== 402 && status !== 503)).toEqual([]);
  expect([await ordersOf(held), await office.reservation(held)]).toEqual([[], 'held']);
});

test('checkout: a hold that expires after its payment was refused has no order', async () => {
  const held = await heldTooCheap();
  const { status } = await office.checkOut(held);
  await office.lapse(held);
  expect([status, (await office.checkOut(held)).json.code]).toEqual([402, 'RESERVATION_EXPIRED']);
  expect(await office.monolith.get(Reservations).expireDueReservations(200)).toMatchObject({ ended: 1 });
  expect([await ordersOf(held), await office.reservation(held)]).toEqual([[], 'expired']);
});

describe('two checkouts of one hold, one of them refused by the provider:', () => {
  const resolve = <T>(token: abstract new (...dependencies: never[]) => T) => office.monolith.get(token as never) as T;
  const checkOutWith = (payments: Payments) =>
    new CheckOut(
      resolve(TransactionManager),
      resolve(PlaceOrders),
      resolve(Reservations),
      resolve(Orders),
      payments,
      resolve(OrderConsequences),
    );
  const command = (held: HeldSeats) => ({
    reservationId: held.id,
    userId: held.userId,
    holders: held.seatIds.map((seatId) => ({ seatId, name: 'Ana' })),
    email: 'ana@example.hr',
  });
  const heldInTurn = async (): Promise<HeldSeats> => {
    const as = randomUUID();
    return office.held(match, { as, turn: await grantTurn(office.monolith, match.id, as), sector: 1 });
  };
  const createTooCheapIntent = (orderId: string) =>
    resolve(PaymentApi).createIntent({ orderId: `other-${orderId}`, amountCents: 1, currency: 'EUR' });

  test('an order whose intent is stored before the refusal stays, and both checkouts are answered with it', async () => {
    const held = await heldInTurn();
    let firstOrderId: string | undefined;
    const checkOut = checkOutWith({
      createIntent: async ({ orderId }) => {
        firstOrderId = (await office.checkOut(held)).json.order_id;
        return createTooCheapIntent(orderId);
      },
    });
    const { order, isNew } = await checkOut.execute(command(held));
    expect([order.id, isNew, order.status]).toEqual([firstOrderId, false, 'awaiting_payment']);
    expect(order.payment.intentId).toMatch(/^pi_/);
  });

  test('an intent that is created after the order was deleted is cancelled, and its checkout is refused too', async () => {
    const held = await heldInTurn();
    let intentId = '';
    const checkOut = checkOutWith({
      createIntent: async (order) => {
        const refusedCheckOut = checkOutWith({ createIntent: ({ orderId }) => createTooCheapIntent(orderId) });
        await expect(refusedCheckOut.execute(command(held))).rejects.toMatchObject({ code: 'PAYMENT_REFUSED' });
        const intent = await resolve(PaymentApi).createIntent(order);
        intentId = intent.intentId;
        return intent;
      },
    });
    await expect(checkOut.execute(command(held))).rejects.toMatchObject({ code: 'PAYMENT_REFUSED' });
    expect([await ordersOf(held), await office.reservation(held)]).toEqual([[], 'held']);
    const cancelled = await office.rows(`select body from outbox where destination = 'payments' and body ->> 'intentId' = $1`, [
      intentId,
    ]);
    expect(cancelled).toEqual([{ body: { kind: 'cancel', intentId } }]);
  });
});
