import { emailJob } from '#contracts/queue-jobs';
import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { FakeStripe } from '../../payment/testing/fake-stripe.ts';
import { newKey } from '../../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { RefundActions, type TicketRow } from '../testing/refunding.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let actions: RefundActions;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  actions = new RefundActions(office);
});
afterAll(() => opened.close());

const onSale = (facts = {}): Promise<MatchOnSale> => putOnSale(office.monolith, { sectors: [seated('East A')], ...facts });
const statuses = (tickets: readonly TicketRow[]): string[] => tickets.map(({ status }) => status);
async function expectInvariantsHold(match: MatchOnSale): Promise<void> {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
  const { capacity, available, held, sold, blocked } = await actions.report(match);
  expect([capacity, available + held + sold + blocked]).toEqual([50, 50]);
}

describe('refund of an order', () => {
  test('a full refund: tickets are invalid, seats are for sale, the provider refunds, a mail is sent, the report counts it', async () => {
    const match = await onSale();
    const ordered = await actions.paid(match, { quantity: 3 });
    await actions.paid(match);
    const { status, json } = await actions.refund(ordered);
    const tickets = await actions.tickets(ordered);
    expect([status, json]).toEqual([
      200,
      {
        ...(await office.order(ordered)),
        user_id: ordered.held.userId,
        email: 'ana@example.hr',
        refund: { ticket_ids: tickets.map(({ id }) => id), amount_cents: 7500, currency: 'EUR' },
      },
    ]);
    expect([json.status, statuses(tickets)]).toEqual(['refunded', ['refunded', 'refunded', 'refunded']]);
    expect(await actions.timeline(ordered)).toEqual(['created', 'payment_succeeded', 'completed', 'refunded']);
    expect([await actions.givenBack(ordered), await actions.mails(ordered)]).toEqual([[7500], ['75.00 EUR']]);
    expect(await actions.report(match)).toMatchObject({
      ...{ available: 49, sold: 1, refunded: 3, revenue_cents: 2500, orders: { completed: 1, refunded: 1 } },
    });
    const qrCode = await office.monolith.call('GET', `/api/v1/tickets/${tickets[0]?.id}/qr.svg`, { as: ordered.held.userId });
    expect(qrCode.json.code).toBe('INVALID_STATE');
    await expectInvariantsHold(match);
    const next = await office.held(match, { seatIds: ordered.held.seatIds });
    expect(next.status).toBe('held');
    await expectInvariantsHold(match);
  });

  test('an order that is refunded ticket by ticket stays completed until its last ticket is refunded', async () => {
    const match = await onSale();
    const ordered = await actions.paid(match, { quantity: 3 });
    const [first, second, third] = (await actions.tickets(ordered)) as [TicketRow, TicketRow, TicketRow];
    const partial = await actions.refund(ordered, [second.id.toUpperCase()]);
    expect([partial.json.status, partial.json.refund]).toEqual([
      'completed',
      { ticket_ids: [second.id], amount_cents: 2500, currency: 'EUR' },
    ]);
    expect(statuses(await actions.tickets(ordered))).toEqual(['valid', 'refunded', 'valid']);
    expect(await office.holderOf(second.seat_id)).toEqual({ status: 'available', reservation_id: null });
    expect(await actions.report(match)).toMatchObject({ sold: 2, refunded: 1, revenue_cents: 5000, orders: { completed: 1 } });
    await expectInvariantsHold(match);
    const rest = await actions.refund(ordered, [first.id, third.id]);
    expect([rest.json.status, rest.json.refund.amount_cents]).toEqual(['refunded', 5000]);
    expect(await actions.timeline(ordered)).toEqual([
      'created',
      'payment_succeeded',
      'completed',
      'tickets_refunded',
      'refunded',
    ]);
    expect([await actions.givenBack(ordered), await actions.mails(ordered)]).toEqual([
      [2500, 5000],
      ['25.00 EUR', '50.00 EUR'],
    ]);
    expect(await actions.report(match)).toMatchObject({ sold: 0, refunded: 3, revenue_cents: 0, orders: { refunded: 1 } });
    await expectInvariantsHold(match);
  });

  test('an order of free seats is refunded without money, and its tickets become invalid', async () => {
    const free = await onSale({ sectors: [{ ...seated('East A'), price_cents: 0 }] });
    const { order_id: orderId } = (await office.checkOut(await office.held(free))).json;
    expect((await actions.refund({ orderId })).json).toMatchObject({ status: 'refunded', refund: { amount_cents: 0 } });
    const money = (await office.outbox(orderId)).filter(({ destination }) => destination === 'payments');
    expect([money, statuses(await actions.tickets({ orderId }))]).toEqual([[], ['refunded']]);
  });

  test('after a refund the turn of the order stays used up: the fan needs another turn to buy again', async () => {
    const match = await onSale({ queue_required: true });
    const turn = `st_${randomUUID()}`;
    const as = randomUUID();
    await office.rows(
      `insert into purchase_windows (session_token, match_id, user_id, expires_at) values ($1, $2, $3, now() + interval '1 hour')`,
      [turn, match.id, as],
    );
    await actions.refund(await actions.paid(match, { as, turn }));
    expect((await office.hold(match, { as, turn })).json.code).toBe('PURCHASE_WINDOW_REQUIRED');
    await expectInvariantsHold(match);
  });
});

describe('repeated refunds', () => {
  test('a refund repeated with the same idempotency key gets the same answer; repeated with another key, it changes nothing and lists no tickets', async () => {
    const match = await onSale();
    const ordered = await actions.paid(match, { quantity: 2 });
    const [ticket] = (await actions.tickets(ordered)) as [TicketRow];
    const key = newKey();
    const first = await actions.refund(ordered, [ticket.id], { key });
    const again = await actions.refund(ordered, [ticket.id], { key });
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
    const other = await actions.refund(ordered, [ticket.id]);
    expect([other.status, other.json.refund]).toEqual([200, { ticket_ids: [], amount_cents: 0, currency: 'EUR' }]);
    await actions.refund(ordered);
    expect((await actions.refund(ordered)).json).toMatchObject({ status: 'refunded', refund: { ticket_ids: [] } });
    expect([await actions.givenBack(ordered), (await actions.mails(ordered)).length]).toEqual([[2500, 2500], 2]);
    await expectInvariantsHold(match);
  });

  test('a repeated refund message to the provider pays back only once', async () => {
    const ordered = await actions.paid(await onSale(), { quantity: 2 });
    await actions.refund(ordered);
    await office.rows(
      `insert into outbox (id, destination, event, aggregate_id, body)
       select gen_random_uuid(), destination, event, aggregate_id, body from outbox where destination = 'payments' and aggregate_id = $1`,
      [ordered.orderId],
    );
    expect(await actions.givenBack(ordered)).toEqual([5000]);
    const [parkedMessages] = await office.rows<{ n: number }>(
      `select count(*)::int as n from outbox where parked_at is not null`,
    );
    expect(parkedMessages?.n).toBe(0);
  });
});

describe('refused refunds', () => {
  test.each([
    ['another order’s ticket', 404, 'NOT_FOUND'],
    ['an unknown ticket', 404, 'NOT_FOUND'],
    ['a used ticket', 409, 'INVALID_STATE'],
    ['a transferred ticket', 409, 'INVALID_STATE'],
  ])(
    'a refund of %s together with a valid ticket is refused, and the valid ticket is not refunded',
    async (what, status, code) => {
      const match = await onSale();
      const [ordered, other] = [await actions.paid(match, { quantity: 2 }), await actions.paid(match)];
      const [valid, second] = (await actions.tickets(ordered)) as [TicketRow, TicketRow];
      const [foreign] = await actions.tickets(other);
      if (what.startsWith('a used')) await office.rows(`update tickets set status = 'used' where id = $1`, [second.id]);
      if (what.includes('transferred')) await actions.transfer(second, randomUUID());
      const bad = what.startsWith('another') ? foreign?.id : what.includes('unknown') ? randomUUID() : second.id;
      const refused = await actions.refund(ordered, [valid.id, bad ?? '']);
      expect([refused.status, refused.json.code]).toEqual([status, code]);
      expect(refused.json.ticket_ids ?? refused.json.tickets.map(({ id }: TicketRow) => id)).toEqual([bad]);
      expect([(await actions.tickets(ordered))[0]?.status, await actions.givenBack(ordered)]).toEqual(['valid', []]);
      await expectInvariantsHold(match);
    },
  );

  test.each(['awaiting_payment', 'cancelled', 'expired'])('a refund of an order that is %s is refused', async (status) => {
    const ordered = await office.ordered(await office.held(await onSale()));
    if (status === 'cancelled') await office.release(ordered.held);
    if (status === 'expired') await office.rows(`update orders set status = 'expired' where id = $1`, [ordered.orderId]);
    const { json } = await actions.refund(ordered);
    expect([json.code, json.order_status]).toEqual(['INVALID_STATE', status]);
  });

  test('a refund is refused for an unknown order, to a fan who is no operator, and with an invalid list of tickets', async () => {
    expect((await actions.refund({ orderId: randomUUID() })).json.code).toBe('NOT_FOUND');
    const ordered = await actions.paid(await onSale());
    const url = `/api/v1/ops/orders/${ordered.orderId}/refund`;
    expect((await office.monolith.call('POST', url, { as: ordered.held.userId, body: {} })).json.code).toBe('FORBIDDEN');
    const [ticket] = await actions.tickets(ordered);
    for (const ticket_ids of [[], [ticket?.id, ticket?.id], ['7'], 'all', null])
      expect((await office.monolith.call('POST', url, { ...ops, body: { ticket_ids } })).json.code).toBe('VALIDATION_FAILED');
    expect(await actions.givenBack(ordered)).toEqual([]);
    expect((await office.monolith.call('POST', url, ops)).json.status).toBe('refunded');
  });

  test('a refund of an order refunds its unused tickets; it is refused if all remaining tickets were used', async () => {
    const ordered = await actions.paid(await onSale(), { quantity: 2 });
    const [first] = (await actions.tickets(ordered)) as [TicketRow];
    await office.rows(`update tickets set status = 'used' where id = $1`, [first.id]);
    expect((await actions.refund(ordered)).json).toMatchObject({ status: 'completed', refund: { amount_cents: 2500 } });
    expect((await actions.refund(ordered)).json).toMatchObject({
      code: 'INVALID_STATE',
      tickets: [{ id: first.id, status: 'used' }],
    });
  });
});

describe('refunds of transferred tickets', () => {
  test('a refund of a transferred ticket invalidates the receiver’s ticket, and the money goes to the buyer', async () => {
    const match = await onSale();
    const ordered = await actions.paid(match, { quantity: 2 });
    const [given, kept] = (await actions.tickets(ordered)) as [TicketRow, TicketRow];
    const receiver = randomUUID();
    await office.monolith.call('PUT', '/api/v1/me', { as: receiver, body: { email: 'b@example.hr', name: null, locale: 'en' } });
    await actions.transfer(given, receiver);
    const { json } = await actions.refund(ordered);
    const received = (await actions.tickets(ordered)).find(({ user_id }) => user_id === receiver);
    expect([json.status, json.refund.ticket_ids.sort()]).toEqual(['refunded', [kept.id, received?.id].sort()]);
    expect([received?.status, await actions.givenBack(ordered)]).toEqual(['refunded', [5000]]);
    const [mail] = (await office.outbox(ordered.orderId)).filter(({ body }) => body.template === 'refund');
    expect(mail?.body.recipient).toBe('ana@example.hr');
    expect(await actions.receiverMails(ordered)).toEqual([['b@example.hr', 1]]);
    const [notice] = (await office.outbox(ordered.orderId)).filter(({ body }) => body.payload?.received);
    expect(emailJob.parse(notice?.body)).toMatchObject({ user_id: receiver, template: 'refund', payload: { locale: 'en' } });
    await expectInvariantsHold(match);
  });

  test('a refund sends each receiver one mail for all their tickets, and none to receivers without an address or to the buyer', async () => {
    const match = await onSale();
    const ordered = await actions.paid(match, { quantity: 4 });
    const [first, second, third] = (await actions.tickets(ordered)) as [TicketRow, TicketRow, TicketRow];
    const [receiver, receiverWithoutAddress] = [randomUUID(), randomUUID()];
    await office.monolith.call('PUT', '/api/v1/me', { as: receiver, body: { email: 'c@example.hr', name: null, locale: 'hr' } });
    for (const [ticket, to] of [
      [first, receiver],
      [second, receiver],
      [third, receiverWithoutAddress],
    ] as const)
      await actions.transfer(ticket, to);
    await actions.refund(ordered);
    expect(await actions.receiverMails(ordered)).toEqual([['c@example.hr', 2]]);
    expect(await actions.mails(ordered)).toHaveLength(1);
    await actions.refund(ordered);
    expect(await actions.receiverMails(ordered)).toHaveLength(1);
  });

  test('a ticket counts against the limit of its buyer also after it was given away, and once it is refunded for neither of the two fans', async () => {
    const match = await onSale({ max_tickets_per_fan: 2 });
    const [buyer, receiver] = [randomUUID(), randomUUID()];
    const ordered = await actions.paid(match, { as: buyer, quantity: 2 });
    const [given, kept] = (await actions.tickets(ordered)) as [TicketRow, TicketRow];
    await actions.transfer(given, receiver);
    const maxHoldable = async (fan: string): Promise<number> => {
      for (const quantity of [3, 2, 1]) {
        const held = await office.hold(match, { as: fan, quantity });
        if (held.status !== 201) continue;
        await office.release({ id: held.json.id, userId: fan });
        return quantity;
      }
      return 0;
    };
    expect([await maxHoldable(buyer), await maxHoldable(receiver)]).toEqual([0, 1]);
    const received = (await actions.tickets(ordered)).find(({ user_id }) => user_id === receiver) as TicketRow;
    await actions.refund(ordered, [received.id]);
    expect([await maxHoldable(buyer), await maxHoldable(receiver)]).toEqual([1, 2]);
    await actions.refund(ordered, [kept.id]);
    expect([await maxHoldable(buyer), await maxHoldable(receiver)]).toEqual([2, 2]);
    await actions.paid(match, { as: buyer, quantity: 2 });
    expect(await maxHoldable(buyer)).toBe(0);
    await expectInvariantsHold(match);
  });

  test('a refund increases the revision of the fan’s seat count, so that a transaction with the old count fails', async () => {
    const match = await onSale({ max_tickets_per_fan: 2 });
    const fan = randomUUID();
    const ordered = await actions.paid(match, { as: fan, quantity: 2 });
    const revision = async (): Promise<unknown> =>
      (await office.rows<{ revision: number }>(`select revision from fan_seats where user_id = $1`, [fan]))[0]?.revision;
    const before = await revision();
    await actions.refund(ordered);
    expect(await revision()).toBe(Number(before) + 1);
  });
});

describe('with Stripe', () => {
  const peer = new FakeStripe();
  let stripe: OpenBoxOffice;
  let stripeActions: RefundActions;

  beforeAll(async () => {
    const base = await peer.start();
    stripe = await openBoxOffice({
      ...{ PAYMENT_PROVIDER: 'stripe', STRIPE_API_BASE: base, STRIPE_SECRET_KEY: peer.secretKey },
    });
    stripeActions = new RefundActions(stripe.office);
  });
  afterAll(async () => {
    await stripe.close();
    await peer.stop();
  });

  test('each ticket is paid back once, although Stripe’s answer is lost and Stripe has forgotten the idempotency keys', async () => {
    const match = await putOnSale(stripe.office.monolith, { sectors: [seated('East A')] });
    const ordered = await stripe.office.ordered(await stripe.office.held(match, { quantity: 3 }));
    peer.pay(ordered.intentId);
    await stripe.office.settle(stripe.office.report(ordered));
    const [first] = (await stripeActions.tickets(ordered)) as [TicketRow];
    await stripeActions.refund(ordered, [first.id]);
    // The relay reads the list of refunds, then creates the refund, and the answer to this second request is lost.
    peer.faults.push(undefined, 'reset after the effect');
    await stripeActions.relay('payments').catch(() => undefined);
    peer.forgetKeys();
    await stripe.office.rows(`update outbox set available_at = now()`);
    await stripeActions.relay('payments');
    expect(peer.refunds.map(({ amount }) => amount)).toEqual([2500]);
    await stripeActions.refund(ordered);
    await stripeActions.relay('payments');
    expect(peer.refunds.map(({ amount, payment_intent }) => [amount, payment_intent])).toEqual([
      [2500, ordered.intentId],
      [5000, ordered.intentId],
    ]);
    const { invariants } = await verifyDatabase(stripe.office.monolith.dataSource, { matchId: match.id });
    expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
    const [undelivered] = await stripe.office.rows<{ n: number }>(
      `select count(*)::int as n from outbox where destination = 'payments'`,
    );
    expect(undelivered?.n).toBe(0);
  });
});
