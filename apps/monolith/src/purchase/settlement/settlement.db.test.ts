import { randomUUID } from 'node:crypto';
import { signWebhook } from '../../payment/outbound/webhooks.ts';
import { grantTurn, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { ExpireReservations } from '../hold/application/expire-reservations.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice, type Ordered } from '../testing/box-office.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 20, 20)] });
});
afterAll(() => opened.close());

const order = async (quantity = 1, on = match) => office.ordered(await office.held(on, { quantity }));
const expireReservations = () => office.monolith.get(ExpireReservations).execute();
const eventsOf = async (ordered: Ordered) => (await office.order(ordered)).timeline.map(({ event }: { event: string }) => event);
const messages = async ({ orderId }: Ordered) =>
  (await office.outbox(orderId)).map(({ destination, body }) => `${destination}: ${body.template ?? body.kind}`);
const ticketsOf = ({ orderId }: Ordered) =>
  office.rows<{ seat_id: string; holder_name: string; status: string }>(
    `select seat_id, holder_name, status from tickets where order_id = $1 order by id`,
    [orderId],
  );
const refundOf = async ({ orderId }: Ordered) =>
  (await office.outbox(orderId)).find(({ destination }) => destination === 'payments')?.body;
const MAILS = ['email: order_confirmation', 'email: ticket_delivery'];

/** Sends a signed webhook over HTTP, as the provider does. */
async function deliver(ordered: Ordered, eventId: string): Promise<number> {
  const intent = {
    id: ordered.intentId,
    amount: ordered.held.total_cents,
    currency: 'eur',
    metadata: { order_id: ordered.orderId },
  };
  const payload = Buffer.from(JSON.stringify({ id: eventId, type: 'payment_intent.succeeded', data: { object: intent } }));
  const signature = signWebhook(payload, office.monolith.config.STRIPE_WEBHOOK_SECRET, new Date());
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
  return (await office.monolith.app.inject({ method: 'POST', url: '/api/v1/payments/webhooks/stripe', headers, payload }))
    .statusCode;
}

describe('successful payments', () => {
  test('a payment completes the order: tickets in the holders’ names, sold seats, two mails and a push', async () => {
    const held = await office.held(match, { quantity: 2 });
    await office.monolith.call('PUT', '/api/v1/me/devices/phone', { as: held.userId, body: { fcm_token: 'token-of-ana' } });
    const ordered = await office.ordered(held);
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect(await office.order(ordered)).toMatchObject({
      status: 'completed',
      tickets: [{ status: 'valid' }, { status: 'valid' }],
    });
    expect(await eventsOf(ordered)).toEqual(['created', 'payment_succeeded', 'completed']);
    expect((await ticketsOf(ordered)).map(({ seat_id, holder_name }) => [seat_id, holder_name])).toEqual([
      [held.seatIds[0], 'Fan 1'],
      [held.seatIds[1], 'Fan 2'],
    ]);
    expect(await office.holderOf(held.seatIds[0] ?? '')).toEqual({ status: 'sold', reservation_id: held.id });
    expect(await messages(ordered)).toEqual([...MAILS, 'push: ticket_delivery']);
    const [confirmation, delivery, push] = await office.outbox(ordered.orderId);
    const { number: order_number } = await office.order(ordered);
    const [checkout] = await office.rows<{ request_id: string }>('select request_id from orders where id = $1', [
      ordered.orderId,
    ]);
    expect(checkout?.request_id).toMatch(/^[\w-]{36}$/);
    for (const message of [confirmation, delivery, push])
      expect(message?.body.about).toEqual({
        ...{ order_id: ordered.orderId, order_number, reservation_id: held.id, match_id: match.id },
        request_id: checkout?.request_id,
      });
    expect([delivery?.body.recipient, delivery?.body.payload.tickets.length, push?.body.fcm_tokens]).toEqual([
      'ana@example.hr',
      2,
      ['token-of-ana'],
    ]);
  });

  test('the ticket mail has the gate of the sector, or null for a sector without a gate', async () => {
    const sectors = [{ ...seated('North'), gate: 'N' }, seated('South'), { ...seated('West'), gate: 'W' }];
    const stadium = await putOnSale(office.monolith, { sectors });
    const orders = [0, 1, 2].map(async (sector) => office.ordered(await office.held(stadium, { sector, quantity: 1 })));
    const ordered = await Promise.all(orders);
    await Promise.all(ordered.map((paid) => office.settle(office.report(paid))));
    const gates = ordered.map(async ({ orderId }) => (await office.outbox(orderId))[1]?.body.payload.tickets[0].gate);
    expect(await Promise.all(gates)).toEqual(['N', null, 'W']);
  });

  test('five concurrent reports of one payment, with the same event id or with five, complete the order once', async () => {
    const [byOneEvent, byFiveEvents] = [await order(), await order()];
    const eventId = `evt_${randomUUID()}`;
    expect(await Promise.all(Array.from({ length: 5 }, () => deliver(byOneEvent, eventId)))).toEqual([200, 200, 200, 200, 200]);
    const settled = await Promise.all(Array.from({ length: 5 }, () => office.settle(office.report(byFiveEvents))));
    expect(settled.sort()).toEqual(['completed', 'noted', 'noted', 'noted', 'noted']);
    for (const ordered of [byOneEvent, byFiveEvents]) {
      expect([await ticketsOf(ordered), await messages(ordered)]).toEqual([[expect.anything()], MAILS]);
      expect(await eventsOf(ordered)).toEqual(['created', 'payment_succeeded', 'completed']);
    }
    expect(await office.settle({ ...office.report(byOneEvent), eventId })).toBe('repeated');
  });

  test('a payment completes the order also after a failed attempt', async () => {
    const ordered = await order();
    expect(await office.settle(office.report(ordered, { outcome: 'failed' }))).toBe('noted');
    expect((await office.order(ordered)).status).toBe('awaiting_payment');
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect(await eventsOf(ordered)).toEqual(['created', 'payment_failed', 'payment_succeeded', 'completed']);
  });

  test('a completed order is not changed by a later report of a failed payment (events may arrive out of order)', async () => {
    const ordered = await order();
    await office.settle(office.report(ordered));
    for (const outcome of ['failed', 'canceled', 'other'] as const) await office.settle(office.report(ordered, { outcome }));
    expect([(await office.order(ordered)).status, await ticketsOf(ordered)]).toEqual([
      'completed',
      [{ seat_id: ordered.held.seatIds[0], holder_name: 'Fan 1', status: 'valid' }],
    ]);
  });
});

describe('concurrent payment reports', () => {
  test('concurrent payment reports each have the same result as they would have alone', async () => {
    const [plain, other, tooLittle, known, ended] = [await order(), await order(), await order(), await order(), await order()];
    const knownReport = office.report(known);
    await office.settle(knownReport);
    await office.release(ended.held);
    await office.block(ended.held.seatIds);
    const settled = await Promise.all([
      office.settle(office.report(plain)),
      office.settle(office.report(plain)),
      office.settle(office.report(tooLittle, { amountCents: 1 })),
      office.settle(knownReport),
      office.settle(office.report(ended)),
      office.settle(office.report(other, { outcome: 'failed' })),
      office.settle(office.report(other, { intentId: 'pi_of_nobody' })),
      office.settle(office.report(other)),
    ]);
    expect(settled.slice(0, 2).sort()).toEqual(['completed', 'noted']);
    expect(settled.slice(2)).toEqual(['refunded', 'repeated', 'refunded', 'noted', 'unknown intent', 'completed']);
    for (const paid of [plain, other, known])
      expect([await ticketsOf(paid), await messages(paid)]).toEqual([[expect.anything()], MAILS]);
    for (const refunded of [tooLittle, ended])
      expect([await ticketsOf(refunded), await refundOf(refunded)]).toEqual([[], expect.anything()]);
  });

  test.each([
    ['hold', `select 1 from reservations where id = $1 for update`, ({ held }: Ordered) => held.id],
    ['seat', `select 1 from seats where id = $1 for update`, ({ held }: Ordered) => held.seatIds[0]],
    ['order', `select 1 from orders where id = $1 for update`, ({ orderId }: Ordered) => orderId],
    ['fan', `select 1 from fan_seats where user_id = $1 for update`, ({ held }: Ordered) => held.userId],
  ])(
    'a payment report waits while another transaction has locked its %s; concurrent reports of other payments do not wait for it',
    async (_, lock, id) => {
      const orders = [await order(), await order(), await order()];
      const holder = office.monolith.dataSource.createQueryRunner();
      await holder.startTransaction();
      await holder.query(lock, [orders[1] && id(orders[1])]);
      const settled = orders.map((ordered) => office.settle(office.report(ordered)));
      const waiting = settled[1]?.then(() => 'settled');
      expect([await settled[0], await settled[2]]).toEqual(['completed', 'completed']);
      expect(await Promise.race([waiting, Promise.resolve('waiting')])).toBe('waiting');
      await holder.rollbackTransaction();
      await holder.release();
      expect(await settled[1]).toBe('completed');
    },
  );
});

test('the settlement of a payment for two seats waits while one of them is locked; it does not sell the other seat alone', async () => {
  const [locked, free] = [await order(2), await order()];
  const seats = () => Promise.all(locked.held.seatIds.map(async (seatId) => (await office.holderOf(seatId))?.status));
  const holder = office.monolith.dataSource.createQueryRunner();
  await holder.startTransaction();
  await holder.query('select 1 from seats where id = $1 for update', [locked.held.seatIds[1]]);
  const settled = [locked, free].map((ordered) => office.settle(office.report(ordered)));
  expect(await settled[1]).toBe('completed');
  const during = [await seats(), await office.reservation(locked.held)];
  await holder.rollbackTransaction();
  await holder.release();
  expect([await settled[0], await seats(), during]).toEqual(['completed', ['sold', 'sold'], [['held', 'held'], 'ordered']]);
  expect(await ticketsOf(locked)).toHaveLength(2);
});

describe('payments that do not match their order', () => {
  test.each([
    ['too small an amount', { amountCents: 1 }, 1, 'EUR'],
    ['too large an amount', { amountCents: 999_900 }, 999_900, 'EUR'],
    ['another currency', { currency: 'HUF' }, 2500, 'HUF'],
    ['the id of another order', { orderId: '0190a000-0000-7000-8000-0000000000aa' }, 2500, 'EUR'],
  ])(
    'a payment with %s is refunded in full, its seats are for sale again, and a mail is sent',
    async (_, change, cents, currency) => {
      const ordered = await order();
      expect(await office.settle(office.report(ordered, change))).toBe('refunded');
      expect([(await office.order(ordered)).status, await eventsOf(ordered)]).toEqual([
        'refunded',
        ['created', 'payment_succeeded', 'payment_mismatch', 'refunded'],
      ]);
      expect(await refundOf(ordered)).toEqual({
        kind: 'refund',
        intentId: ordered.intentId,
        amountCents: cents,
        key: `refund-${ordered.orderId}`,
      });
      expect(await messages(ordered)).toEqual(['payments: refund', 'email: refund']);
      expect((await office.outbox(ordered.orderId))[1]?.body.payload.total_amount).toBe(
        `${(cents / 100).toFixed(2)} ${currency}`,
      );
      expect([await ticketsOf(ordered), await office.holderOf(ordered.held.seatIds[0] ?? '')]).toEqual([
        [],
        { status: 'available', reservation_id: null },
      ]);
      expect(await office.settle(office.report(ordered))).toBe('noted');
      expect(await messages(ordered)).toHaveLength(2);
    },
  );
});

describe('late payments (the hold has ended)', () => {
  test.each([
    ['has expired', () => Promise.resolve(0)],
    ['was ended by the expiry sweeper', () => expireReservations()],
  ])('a payment after the hold %s completes the order if its seats are still free', async (_, endHold) => {
    const ordered = await order(2);
    await office.lapse(ordered.held);
    await endHold();
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect([(await office.order(ordered)).status, await office.reservation(ordered.held)]).toEqual(['completed', 'completed']);
    expect([(await ticketsOf(ordered)).length, await messages(ordered)]).toEqual([2, MAILS]);
    await expireReservations();
    expect(await office.reservation(ordered.held)).toBe('completed');
  });

  test('a late payment completes the order even if the fan has cancelled it', async () => {
    const ordered = await order();
    await office.release(ordered.held);
    expect(await office.settle(office.report(ordered))).toBe('completed');
  });

  test('a late payment is refunded in full if another fan has one of the seats', async () => {
    const ordered = await order(2);
    await office.lapse(ordered.held);
    const next = await office.held(match, { seatIds: ordered.held.seatIds.slice(0, 1) });
    expect(await office.settle(office.report(ordered))).toBe('refunded');
    expect(await eventsOf(ordered)).toEqual(['created', 'payment_succeeded', 'seats_gone', 'refunded']);
    expect(await refundOf(ordered)).toMatchObject({ amountCents: 5000 });
    expect(await office.holderOf(next.seatIds[0] ?? '')).toEqual({ status: 'held', reservation_id: next.id });
    expect(await ticketsOf(ordered)).toEqual([]);
  });

  test('a late payment also takes seats of another expired hold; the payment of that hold is then refunded', async () => {
    const first = await order();
    await office.lapse(first.held);
    const second = await office.ordered(await office.held(match, { seatIds: first.held.seatIds }));
    await office.lapse(second.held);
    expect(await office.settle(office.report(first))).toBe('completed');
    expect(await office.settle(office.report(second))).toBe('refunded');
    await expireReservations();
    expect(await office.holderOf(first.held.seatIds[0] ?? '')).toEqual({ status: 'sold', reservation_id: first.held.id });
  });

  test.each([
    ['completes the order if the fan then has exactly as many seats as allowed', 2, 'completed'],
    ['is refunded if the fan would then have one seat too many', 3, 'refunded'],
  ])('a late payment %s', async (_, otherSeats, outcome) => {
    const limited = await putOnSale(office.monolith, { max_tickets_per_fan: 4 });
    const ordered = await order(2, limited);
    await office.lapse(ordered.held);
    await office.held(limited, { as: ordered.held.userId, quantity: otherSeats });
    expect(await office.settle(office.report(ordered))).toBe(outcome);
    expect((await office.order(ordered)).status).toBe(outcome);
  });

  test('a late payment is refunded if the sale is closed; a payment with a valid hold completes its order', async () => {
    const closing = await putOnSale(office.monolith);
    const [valid, expired] = [await order(1, closing), await order(1, closing)];
    await office.rows(`update matches set sale_status = 'closed' where id = $1`, [closing.id]);
    await office.lapse(expired.held);
    expect([await office.settle(office.report(valid)), await office.settle(office.report(expired))]).toEqual([
      'completed',
      'refunded',
    ]);
  });

  test.each([
    ['awaits payment', false, 'awaiting_payment'],
    ['is paid', true, 'completed'],
  ])('a late payment is refunded if another order of its turn %s', async (_, paid, status) => {
    const turns = await putOnSale(office.monolith, { queue_required: true });
    const as = randomUUID();
    const turn = await grantTurn(office.monolith, turns.id, as);
    const late = await office.ordered(await office.held(turns, { as, turn }));
    await office.lapse(late.held);
    await expireReservations();
    const second = await office.ordered(await office.held(turns, { as, turn }));
    if (paid) await office.settle(office.report(second));
    expect(await office.settle(office.report(late))).toBe('refunded');
    expect((await office.order(second)).status).toBe(status);
  });

  test('a late payment completes the order if its turn has no other order; then the turn is used up', async () => {
    const turns = await putOnSale(office.monolith, { queue_required: true });
    const as = randomUUID();
    const turn = await grantTurn(office.monolith, turns.id, as);
    const late = await office.ordered(await office.held(turns, { as, turn }));
    await office.lapse(late.held);
    await expireReservations();
    expect(await office.settle(office.report(late))).toBe('completed');
    expect((await office.hold(turns, { as, turn })).json.code).toBe('PURCHASE_WINDOW_REQUIRED');
  });
});

describe('reports of unknown payments', () => {
  test('a report of an unknown payment is recorded and has no effect', async () => {
    const ordered = await order();
    const report = office.report(ordered, { intentId: 'pi_of-somebody-else', orderId: randomUUID() });
    expect([await office.settle(report), await office.settle(report)]).toEqual(['unknown intent', 'repeated']);
    expect(await office.settle(office.report(ordered, { intentId: undefined, outcome: 'other' }))).toBe('unknown intent');
    expect((await office.order(ordered)).status).toBe('awaiting_payment');
  });

  test('a report of an unknown payment has no effect on the order that it names, if that order has another payment intent', async () => {
    const ordered = await order();
    expect(await office.settle(office.report(ordered, { intentId: 'pi_second', orderId: ordered.orderId }))).toBe(
      'unknown intent',
    );
  });
});
