import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { StripePeer } from '../../payment/testing/stripe-peer.ts';
import { newKey } from '../../testing/test-app.ts';
import { grantTurn, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';
import { CheckOut } from './application/check-out.ts';
import { OrderConsequences, Orders, Payments } from './application/ports.ts';

const peer = new StripePeer();
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

/** Two seats for 40 cents: Stripe takes 50 at least. */
async function heldTooCheap(): Promise<HeldSeats & { readonly turn: string }> {
  const as = randomUUID();
  const turn = await grantTurn(office.monolith, match.id, as);
  return { ...(await office.held(match, { as, turn, quantity: 2 })), turn };
}

test('an intent the provider refuses: 402 with its reason, no order, and the seats stay held', async () => {
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

test('the same key is not answered from memory: it asks the provider again', async () => {
  const held = await heldTooCheap();
  const key = newKey();
  const first = await office.checkOut(held, { key });
  const asked = peer.requests.length;
  const again = await office.checkOut(held, { key });
  expect([first.status, again.status, again.headers['idempotency-replayed']]).toEqual([402, 402, undefined]);
  expect(peer.requests.length).toBe(asked + 1);
  // The seats cost more now, as if the operator had mended the price.
  await office.rows(`update reservations set price_cents = 2500, total_cents = 5000 where id = $1`, [held.id]);
  const paid = await office.checkOut(held, { key });
  expect([paid.status, paid.json.status, paid.headers['idempotency-replayed']]).toEqual([201, 'awaiting_payment', undefined]);
  expect((await ordersOf(held)).map(({ id }: { id: string }) => id)).toEqual([paid.json.order_id]);
});

test('a refused order does not use the turn up: another hold of it is checked out', async () => {
  const held = await heldTooCheap();
  expect((await office.checkOut(held)).status).toBe(402);
  const other = await office.held(match, { as: held.userId, turn: held.turn, sector: 1 });
  expect((await office.checkOut(other)).status).toBe(201);
  expect((await ordersOf(held)).map(({ reservation_id }: { reservation_id: string }) => reservation_id)).toEqual([other.id]);
});

test('ten times at once: each is refused, and no order is left', async () => {
  const held = await heldTooCheap();
  const answers = await Promise.all(Array.from({ length: 10 }, () => office.checkOut(held)));
  // 409 at Stripe, 503 here: the same order is being asked about this moment. Never 500, never an order.
  expect(answers.filter(({ status }) => status !== 402 && status !== 503)).toEqual([]);
  expect([await ordersOf(held), await office.reservation(held)]).toEqual([[], 'held']);
});

test('a hold that ended while the provider was asked leaves no order that awaits payment', async () => {
  const held = await heldTooCheap();
  const { status } = await office.checkOut(held);
  await office.lapse(held);
  expect([status, (await office.checkOut(held)).json.code]).toEqual([402, 'RESERVATION_EXPIRED']);
  expect(await office.monolith.get(Reservations).expireDue(200)).toMatchObject({ ended: 1 });
  expect([await ordersOf(held), await office.reservation(held)]).toEqual([[], 'expired']);
});

describe('two checkouts of one hold that the provider answers differently', () => {
  const part = <T>(token: abstract new (...dependencies: never[]) => T) => office.monolith.get(token as never) as T;
  const checkOutWith = (payments: Payments) =>
    new CheckOut(part(TransactionManager), part(Reservations), part(Orders), payments, part(OrderConsequences), part(Ids));
  const command = (held: HeldSeats) => ({
    reservationId: held.id,
    userId: held.userId,
    holders: held.seatIds.map((seatId) => ({ seatId, name: 'Ana' })),
    email: 'ana@example.hr',
  });
  const held = async (): Promise<HeldSeats> => {
    const as = randomUUID();
    return office.held(match, { as, turn: await grantTurn(office.monolith, match.id, as), sector: 1 });
  };
  const refused = (orderId: string) =>
    part(Payments).createIntent({ orderId: `other-${orderId}`, amountCents: 1, currency: 'EUR' });

  test('an intent that is recorded first keeps its order, though the other checkout was refused', async () => {
    const wanted = await held();
    let served: string | undefined;
    const checkOut = checkOutWith({
      createIntent: async ({ orderId }) => {
        served = (await office.checkOut(wanted)).json.order_id;
        return refused(orderId);
      },
    });
    const { order, isNew } = await checkOut.execute(command(wanted));
    expect([order.id, isNew, order.status]).toEqual([served, false, 'awaiting_payment']);
    expect(order.payment.intentId).toMatch(/^pi_/);
  });

  test('an intent made after the order was withdrawn is cancelled, and the checkout is refused too', async () => {
    const wanted = await held();
    let intentId = '';
    const checkOut = checkOutWith({
      createIntent: async (order) => {
        const other = checkOutWith({ createIntent: ({ orderId }) => refused(orderId) });
        await expect(other.execute(command(wanted))).rejects.toMatchObject({ code: 'PAYMENT_REFUSED' });
        const intent = await part(Payments).createIntent(order);
        intentId = intent.intentId;
        return intent;
      },
    });
    await expect(checkOut.execute(command(wanted))).rejects.toMatchObject({ code: 'PAYMENT_REFUSED' });
    expect([await ordersOf(wanted), await office.reservation(wanted)]).toEqual([[], 'held']);
    const cancelled = await office.rows(`select body from outbox where destination = 'payments' and body ->> 'intentId' = $1`, [
      intentId,
    ]);
    expect(cancelled).toEqual([{ body: { kind: 'cancel', intentId } }]);
  });
});
