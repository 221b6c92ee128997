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
const sweep = () => office.monolith.get(ExpireReservations).execute();
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

/** Sends what the provider would, over HTTP and signed. */
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

describe('a payment that succeeds', () => {
  test('completes the order: tickets in the holders’ names, seats sold, two mails, a push a device', async () => {
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
    for (const message of [confirmation, delivery, push])
      expect(message?.body.about).toEqual({ order_id: ordered.orderId, order_number, match_id: match.id });
    expect([delivery?.body.recipient, delivery?.body.payload.tickets.length, push?.body.fcm_tokens]).toEqual([
      'ana@example.hr',
      2,
      ['token-of-ana'],
    ]);
  });

  test('tells each fan the gate of their sector, where one is named', async () => {
    const sectors = [{ ...seated('North'), gate: 'N' }, seated('South'), { ...seated('West'), gate: 'W' }];
    const stadium = await putOnSale(office.monolith, { sectors });
    const orders = [0, 1, 2].map(async (sector) => office.ordered(await office.held(stadium, { sector, quantity: 1 })));
    const ordered = await Promise.all(orders);
    await Promise.all(ordered.map((one) => office.settle(office.report(one))));
    const gates = ordered.map(async ({ orderId }) => (await office.outbox(orderId))[1]?.body.payload.tickets[0].gate);
    expect(await Promise.all(gates)).toEqual(['N', null, 'W']);
  });

  test('five times by one event, and by five events at once, completes it once', async () => {
    const [byOne, byFive] = [await order(), await order()];
    const eventId = `evt_${randomUUID()}`;
    expect(await Promise.all(Array.from({ length: 5 }, () => deliver(byOne, eventId)))).toEqual([200, 200, 200, 200, 200]);
    const settled = await Promise.all(Array.from({ length: 5 }, () => office.settle(office.report(byFive))));
    expect(settled.sort()).toEqual(['completed', 'noted', 'noted', 'noted', 'noted']);
    for (const ordered of [byOne, byFive]) {
      expect([await ticketsOf(ordered), await messages(ordered)]).toEqual([[expect.anything()], MAILS]);
      expect(await eventsOf(ordered)).toEqual(['created', 'payment_succeeded', 'completed']);
    }
    expect(await office.settle({ ...office.report(byOne), eventId })).toBe('repeated');
  });

  test('after one that failed', async () => {
    const ordered = await order();
    expect(await office.settle(office.report(ordered, { outcome: 'failed' }))).toBe('noted');
    expect((await office.order(ordered)).status).toBe('awaiting_payment');
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect(await eventsOf(ordered)).toEqual(['created', 'payment_failed', 'payment_succeeded', 'completed']);
  });

  test('and is told as failed afterwards, out of order, changes nothing', async () => {
    const ordered = await order();
    await office.settle(office.report(ordered));
    for (const outcome of ['failed', 'canceled', 'other'] as const) await office.settle(office.report(ordered, { outcome }));
    expect([(await office.order(ordered)).status, await ticketsOf(ordered)]).toEqual([
      'completed',
      [{ seat_id: ordered.held.seatIds[0], holder_name: 'Fan 1', status: 'valid' }],
    ]);
  });
});

describe('payments that are told at the same time', () => {
  test('each ends as it would alone, whatever the others are', async () => {
    const [plain, other, little, known, ended] = [await order(), await order(), await order(), await order(), await order()];
    const seen = office.report(known);
    await office.settle(seen);
    await office.release(ended.held);
    await office.block(ended.held.seatIds);
    const settled = await Promise.all([
      office.settle(office.report(plain)),
      office.settle(office.report(plain)),
      office.settle(office.report(little, { amountCents: 1 })),
      office.settle(seen),
      office.settle(office.report(ended)),
      office.settle(office.report(other, { outcome: 'failed' })),
      office.settle(office.report(other, { intentId: 'pi_of_nobody' })),
      office.settle(office.report(other)),
    ]);
    expect(settled.slice(0, 2).sort()).toEqual(['completed', 'noted']);
    expect(settled.slice(2)).toEqual(['refunded', 'repeated', 'refunded', 'noted', 'unknown intent', 'completed']);
    for (const paid of [plain, other, known])
      expect([await ticketsOf(paid), await messages(paid)]).toEqual([[expect.anything()], MAILS]);
    for (const back of [little, ended]) expect([await ticketsOf(back), await refundOf(back)]).toEqual([[], expect.anything()]);
  });

  test.each([
    ['hold', `select 1 from reservations where id = $1 for update`, ({ held }: Ordered) => held.id],
    ['seat', `select 1 from seats where id = $1 for update`, ({ held }: Ordered) => held.seatIds[0]],
    ['order', `select 1 from orders where id = $1 for update`, ({ orderId }: Ordered) => orderId],
    ['fan', `select 1 from fan_seats where user_id = $1 for update`, ({ held }: Ordered) => held.userId],
  ])('one whose %s somebody has locked waits; the others do not', async (_, lock, id) => {
    const orders = [await order(), await order(), await order()];
    const holder = office.monolith.dataSource.createQueryRunner();
    await holder.startTransaction();
    await holder.query(lock, [orders[1] && id(orders[1])]);
    const settled = orders.map((one) => office.settle(office.report(one)));
    const waiting = settled[1]?.then(() => 'settled');
    expect([await settled[0], await settled[2]]).toEqual(['completed', 'completed']);
    expect(await Promise.race([waiting, Promise.resolve('waiting')])).toBe('waiting');
    await holder.rollbackTransaction();
    await holder.release();
    expect(await settled[1]).toBe('completed');
  });
});

test('a payment one of whose two seats somebody has locked waits, whole: no half of it is sold', async () => {
  const [locked, free] = [await order(2), await order()];
  const seats = () => Promise.all(locked.held.seatIds.map(async (seatId) => (await office.holderOf(seatId))?.status));
  const holder = office.monolith.dataSource.createQueryRunner();
  await holder.startTransaction();
  await holder.query('select 1 from seats where id = $1 for update', [locked.held.seatIds[1]]);
  const settled = [locked, free].map((one) => office.settle(office.report(one)));
  expect(await settled[1]).toBe('completed');
  const during = [await seats(), await office.reservation(locked.held)];
  await holder.rollbackTransaction();
  await holder.release();
  expect([await settled[0], await seats(), during]).toEqual(['completed', ['sold', 'sold'], [['held', 'held'], 'ordered']]);
  expect(await ticketsOf(locked)).toHaveLength(2);
});

describe('a payment of something else', () => {
  test.each([
    ['too little', { amountCents: 1 }, 1, 'EUR'],
    ['too much', { amountCents: 999_900 }, 999_900, 'EUR'],
    ['another currency', { currency: 'HUF' }, 2500, 'HUF'],
    ['what was meant for another order', { orderId: '0190a000-0000-7000-8000-0000000000aa' }, 2500, 'EUR'],
  ])('%s: all of it goes back, the seats too, and a mail says so', async (_, change, cents, currency) => {
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
    expect((await office.outbox(ordered.orderId))[1]?.body.payload.total_amount).toBe(`${(cents / 100).toFixed(2)} ${currency}`);
    expect([await ticketsOf(ordered), await office.holderOf(ordered.held.seatIds[0] ?? '')]).toEqual([
      [],
      { status: 'available', reservation_id: null },
    ]);
    expect(await office.settle(office.report(ordered))).toBe('noted');
    expect(await messages(ordered)).toHaveLength(2);
  });
});

describe('a payment after the hold ended', () => {
  test.each([
    ['a moment ago', () => Promise.resolve(0)],
    ['and was tidied up', () => sweep()],
  ])('%s: completed, as its seats are still free', async (_, tidy) => {
    const ordered = await order(2);
    await office.lapse(ordered.held);
    await tidy();
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect([(await office.order(ordered)).status, await office.reservation(ordered.held)]).toEqual(['completed', 'completed']);
    expect([(await ticketsOf(ordered)).length, await messages(ordered)]).toEqual([2, MAILS]);
    await sweep();
    expect(await office.reservation(ordered.held)).toBe('completed');
  });

  test('whose order the fan had given up: completed, as he paid for it', async () => {
    const ordered = await order();
    await office.release(ordered.held);
    expect(await office.settle(office.report(ordered))).toBe('completed');
  });

  test('refunded in full when one of its seats has somebody else', async () => {
    const ordered = await order(2);
    await office.lapse(ordered.held);
    const next = await office.held(match, { seatIds: ordered.held.seatIds.slice(0, 1) });
    expect(await office.settle(office.report(ordered))).toBe('refunded');
    expect(await eventsOf(ordered)).toEqual(['created', 'payment_succeeded', 'seats_gone', 'refunded']);
    expect(await refundOf(ordered)).toMatchObject({ amountCents: 5000 });
    expect(await office.holderOf(next.seatIds[0] ?? '')).toEqual({ status: 'held', reservation_id: next.id });
    expect(await ticketsOf(ordered)).toEqual([]);
  });

  test('takes seats of a hold that is over too, and then that one is refunded', async () => {
    const first = await order();
    await office.lapse(first.held);
    const second = await office.ordered(await office.held(match, { seatIds: first.held.seatIds }));
    await office.lapse(second.held);
    expect(await office.settle(office.report(first))).toBe('completed');
    expect(await office.settle(office.report(second))).toBe('refunded');
    await sweep();
    expect(await office.holderOf(first.held.seatIds[0] ?? '')).toEqual({ status: 'sold', reservation_id: first.held.id });
  });

  test.each([
    ['completed when it and the fan’s other seats are exactly as many as are allowed', 2, 'completed'],
    ['refunded when they are one more', 3, 'refunded'],
  ])('%s', async (_, others, outcome) => {
    const limited = await putOnSale(office.monolith, { max_tickets_per_fan: 4 });
    const ordered = await order(2, limited);
    await office.lapse(ordered.held);
    await office.held(limited, { as: ordered.held.userId, quantity: others });
    expect(await office.settle(office.report(ordered))).toBe(outcome);
    expect((await office.order(ordered)).status).toBe(outcome);
  });

  test('of a closed sale is refunded; while the hold lives it is completed', async () => {
    const closing = await putOnSale(office.monolith);
    const [alive, over] = [await order(1, closing), await order(1, closing)];
    await office.rows(`update matches set sale_status = 'closed' where id = $1`, [closing.id]);
    await office.lapse(over.held);
    expect([await office.settle(office.report(alive)), await office.settle(office.report(over))]).toEqual([
      'completed',
      'refunded',
    ]);
  });

  test.each([
    ['awaits payment', false, 'awaiting_payment'],
    ['is paid', true, 'completed'],
  ])('refunded when another order of its turn %s', async (_, paid, status) => {
    const turns = await putOnSale(office.monolith, { queue_required: true });
    const as = randomUUID();
    const turn = await grantTurn(office.monolith, turns.id, as);
    const late = await office.ordered(await office.held(turns, { as, turn }));
    await office.lapse(late.held);
    await sweep();
    const second = await office.ordered(await office.held(turns, { as, turn }));
    if (paid) await office.settle(office.report(second));
    expect(await office.settle(office.report(late))).toBe('refunded');
    expect((await office.order(second)).status).toBe(status);
  });

  test('in a turn nobody else used it is completed, and the turn is used up', async () => {
    const turns = await putOnSale(office.monolith, { queue_required: true });
    const as = randomUUID();
    const turn = await grantTurn(office.monolith, turns.id, as);
    const late = await office.ordered(await office.held(turns, { as, turn }));
    await office.lapse(late.held);
    await sweep();
    expect(await office.settle(office.report(late))).toBe('completed');
    expect((await office.hold(turns, { as, turn })).json.code).toBe('PURCHASE_WINDOW_REQUIRED');
  });
});

describe('news of a payment nobody knows', () => {
  test('is remembered and does nothing', async () => {
    const ordered = await order();
    const report = office.report(ordered, { intentId: 'pi_of-somebody-else', orderId: randomUUID() });
    expect([await office.settle(report), await office.settle(report)]).toEqual(['unknown intent', 'repeated']);
    expect(await office.settle(office.report(ordered, { intentId: undefined, outcome: 'other' }))).toBe('unknown intent');
    expect((await office.order(ordered)).status).toBe('awaiting_payment');
  });

  test("with the number of an order that has another intent is not that order's", async () => {
    const ordered = await order();
    expect(await office.settle(office.report(ordered, { intentId: 'pi_second', orderId: ordered.orderId }))).toBe(
      'unknown intent',
    );
  });
});
