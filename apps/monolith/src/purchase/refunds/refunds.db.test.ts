import { emailJob } from '#contracts/queue-jobs';
import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { StripePeer } from '../../payment/testing/stripe-peer.ts';
import { newKey } from '../../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { RefundActions, type TicketRow } from '../testing/refunding.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let desk: RefundActions;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  desk = new RefundActions(office);
});
afterAll(() => opened.close());

const onSale = (facts = {}): Promise<MatchOnSale> => putOnSale(office.monolith, { sectors: [seated('East A')], ...facts });
const statuses = (tickets: readonly TicketRow[]): string[] => tickets.map(({ status }) => status);
async function expectSound(match: MatchOnSale): Promise<void> {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
  const { capacity, available, held, sold, blocked } = await desk.report(match);
  expect([capacity, available + held + sold + blocked]).toEqual([50, 50]);
}

describe('an order', () => {
  test('refunded whole: tickets die, seats are for sale, the money goes back, a mail says so, the report counts it', async () => {
    const match = await onSale();
    const ordered = await desk.paid(match, { quantity: 3 });
    await desk.paid(match);
    const { status, json } = await desk.refund(ordered);
    const tickets = await desk.tickets(ordered);
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
    expect(await desk.timeline(ordered)).toEqual(['created', 'payment_succeeded', 'completed', 'refunded']);
    expect([await desk.givenBack(ordered), await desk.mails(ordered)]).toEqual([[7500], ['75.00 EUR']]);
    expect(await desk.report(match)).toMatchObject({
      ...{ available: 49, sold: 1, refunded: 3, revenue_cents: 2500, orders: { completed: 1, refunded: 1 } },
    });
    const paper = await office.monolith.call('GET', `/api/v1/tickets/${tickets[0]?.id}/qr.svg`, { as: ordered.held.userId });
    expect(paper.json.code).toBe('INVALID_STATE');
    await expectSound(match);
    const next = await office.held(match, { seatIds: ordered.held.seatIds });
    expect(next.status).toBe('held');
    await expectSound(match);
  });

  test('refunded ticket by ticket is completed until the last one', async () => {
    const match = await onSale();
    const ordered = await desk.paid(match, { quantity: 3 });
    const [first, second, third] = (await desk.tickets(ordered)) as [TicketRow, TicketRow, TicketRow];
    const one = await desk.refund(ordered, [second.id.toUpperCase()]);
    expect([one.json.status, one.json.refund]).toEqual([
      'completed',
      { ticket_ids: [second.id], amount_cents: 2500, currency: 'EUR' },
    ]);
    expect(statuses(await desk.tickets(ordered))).toEqual(['valid', 'refunded', 'valid']);
    expect(await office.holderOf(second.seat_id)).toEqual({ status: 'available', reservation_id: null });
    expect(await desk.report(match)).toMatchObject({ sold: 2, refunded: 1, revenue_cents: 5000, orders: { completed: 1 } });
    await expectSound(match);
    const rest = await desk.refund(ordered, [first.id, third.id]);
    expect([rest.json.status, rest.json.refund.amount_cents]).toEqual(['refunded', 5000]);
    expect(await desk.timeline(ordered)).toEqual(['created', 'payment_succeeded', 'completed', 'tickets_refunded', 'refunded']);
    expect([await desk.givenBack(ordered), await desk.mails(ordered)]).toEqual([
      [2500, 5000],
      ['25.00 EUR', '50.00 EUR'],
    ]);
    expect(await desk.report(match)).toMatchObject({ sold: 0, refunded: 3, revenue_cents: 0, orders: { refunded: 1 } });
    await expectSound(match);
  });

  test('whose seats cost nothing gives back nothing, and its tickets die all the same', async () => {
    const free = await onSale({ sectors: [{ ...seated('East A'), price_cents: 0 }] });
    const { order_id: orderId } = (await office.checkOut(await office.held(free))).json;
    expect((await desk.refund({ orderId })).json).toMatchObject({ status: 'refunded', refund: { amount_cents: 0 } });
    const money = (await office.outbox(orderId)).filter(({ destination }) => destination === 'payments');
    expect([money, statuses(await desk.tickets({ orderId }))]).toEqual([[], ['refunded']]);
  });

  test('keeps its turn: who was refunded bought in it', async () => {
    const match = await onSale({ queue_required: true });
    const turn = `st_${randomUUID()}`;
    const as = randomUUID();
    await office.rows(
      `insert into purchase_windows (session_token, match_id, user_id, expires_at) values ($1, $2, $3, now() + interval '1 hour')`,
      [turn, match.id, as],
    );
    await desk.refund(await desk.paid(match, { as, turn }));
    expect((await office.hold(match, { as, turn })).json.code).toBe('PURCHASE_WINDOW_REQUIRED');
    await expectSound(match);
  });
});

describe('asked again', () => {
  test('with the same key it is the same answer, with another nothing happens and the answer says so', async () => {
    const match = await onSale();
    const ordered = await desk.paid(match, { quantity: 2 });
    const [ticket] = (await desk.tickets(ordered)) as [TicketRow];
    const key = newKey();
    const first = await desk.refund(ordered, [ticket.id], { key });
    const again = await desk.refund(ordered, [ticket.id], { key });
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
    const other = await desk.refund(ordered, [ticket.id]);
    expect([other.status, other.json.refund]).toEqual([200, { ticket_ids: [], amount_cents: 0, currency: 'EUR' }]);
    await desk.refund(ordered);
    expect((await desk.refund(ordered)).json).toMatchObject({ status: 'refunded', refund: { ticket_ids: [] } });
    expect([await desk.givenBack(ordered), (await desk.mails(ordered)).length]).toEqual([[2500, 2500], 2]);
    await expectSound(match);
  });

  test('while the provider is asked twice for the same refund, it gives back once', async () => {
    const ordered = await desk.paid(await onSale(), { quantity: 2 });
    await desk.refund(ordered);
    await office.rows(
      `insert into outbox (id, destination, event, aggregate_id, body)
       select gen_random_uuid(), destination, event, aggregate_id, body from outbox where destination = 'payments' and aggregate_id = $1`,
      [ordered.orderId],
    );
    expect(await desk.givenBack(ordered)).toEqual([5000]);
    const [parked] = await office.rows<{ n: number }>(`select count(*)::int as n from outbox where parked_at is not null`);
    expect(parked?.n).toBe(0);
  });
});

describe('refused, and nothing is given back', () => {
  test.each([
    ['another order’s ticket', 404, 'NOT_FOUND'],
    ['a ticket that never was', 404, 'NOT_FOUND'],
    ['a used ticket', 409, 'INVALID_STATE'],
    ['a ticket that was given to somebody', 409, 'INVALID_STATE'],
  ])('%s beside a good one', async (what, status, code) => {
    const match = await onSale();
    const [ordered, other] = [await desk.paid(match, { quantity: 2 }), await desk.paid(match)];
    const [good, second] = (await desk.tickets(ordered)) as [TicketRow, TicketRow];
    const [foreign] = await desk.tickets(other);
    if (what.startsWith('a used')) await office.rows(`update tickets set status = 'used' where id = $1`, [second.id]);
    if (what.includes('given')) await desk.transfer(second, randomUUID());
    const bad = what.startsWith('another') ? foreign?.id : what.includes('never') ? randomUUID() : second.id;
    const refused = await desk.refund(ordered, [good.id, bad ?? '']);
    expect([refused.status, refused.json.code]).toEqual([status, code]);
    expect(refused.json.ticket_ids ?? refused.json.tickets.map(({ id }: TicketRow) => id)).toEqual([bad]);
    expect([(await desk.tickets(ordered))[0]?.status, await desk.givenBack(ordered)]).toEqual(['valid', []]);
    await expectSound(match);
  });

  test.each(['awaiting_payment', 'cancelled', 'expired'])('an order that is %s', async (status) => {
    const ordered = await office.ordered(await office.held(await onSale()));
    if (status === 'cancelled') await office.release(ordered.held);
    if (status === 'expired') await office.rows(`update orders set status = 'expired' where id = $1`, [ordered.orderId]);
    const { json } = await desk.refund(ordered);
    expect([json.code, json.order_status]).toEqual(['INVALID_STATE', status]);
  });

  test('an order that is not there, by whoever is no operator, and what is no list of tickets', async () => {
    expect((await desk.refund({ orderId: randomUUID() })).json.code).toBe('NOT_FOUND');
    const ordered = await desk.paid(await onSale());
    const url = `/api/v1/ops/orders/${ordered.orderId}/refund`;
    expect((await office.monolith.call('POST', url, { as: ordered.held.userId, body: {} })).json.code).toBe('FORBIDDEN');
    const [ticket] = await desk.tickets(ordered);
    for (const ticket_ids of [[], [ticket?.id, ticket?.id], ['7'], 'all', null])
      expect((await office.monolith.call('POST', url, { ...ops, body: { ticket_ids } })).json.code).toBe('VALIDATION_FAILED');
    expect(await desk.givenBack(ordered)).toEqual([]);
    expect((await office.monolith.call('POST', url, ops)).json.status).toBe('refunded');
  });

  test('an order whose tickets were all used; of one with some left those go back', async () => {
    const ordered = await desk.paid(await onSale(), { quantity: 2 });
    const [first] = (await desk.tickets(ordered)) as [TicketRow];
    await office.rows(`update tickets set status = 'used' where id = $1`, [first.id]);
    expect((await desk.refund(ordered)).json).toMatchObject({ status: 'completed', refund: { amount_cents: 2500 } });
    expect((await desk.refund(ordered)).json).toMatchObject({
      code: 'INVALID_STATE',
      tickets: [{ id: first.id, status: 'used' }],
    });
  });
});

describe('who has the ticket', () => {
  test('loses it when it was given to them; the money goes to who paid', async () => {
    const match = await onSale();
    const ordered = await desk.paid(match, { quantity: 2 });
    const [given, kept] = (await desk.tickets(ordered)) as [TicketRow, TicketRow];
    const receiver = randomUUID();
    await office.monolith.call('PUT', '/api/v1/me', { as: receiver, body: { email: 'b@example.hr', name: null, locale: 'en' } });
    await desk.transfer(given, receiver);
    const { json } = await desk.refund(ordered);
    const received = (await desk.tickets(ordered)).find(({ user_id }) => user_id === receiver);
    expect([json.status, json.refund.ticket_ids.sort()]).toEqual(['refunded', [kept.id, received?.id].sort()]);
    expect([received?.status, await desk.givenBack(ordered)]).toEqual(['refunded', [5000]]);
    const [mail] = (await office.outbox(ordered.orderId)).filter(({ body }) => body.template === 'refund');
    expect(mail?.body.recipient).toBe('ana@example.hr');
    expect(await desk.receiversTold(ordered)).toEqual([['b@example.hr', 1]]);
    const [notice] = (await office.outbox(ordered.orderId)).filter(({ body }) => body.payload?.received);
    expect(emailJob.parse(notice?.body)).toMatchObject({ user_id: receiver, template: 'refund', payload: { locale: 'en' } });
    await expectSound(match);
  });

  test('is told nothing when it is the buyer, or without an address; one mail for all tickets of one receiver', async () => {
    const match = await onSale();
    const ordered = await desk.paid(match, { quantity: 4 });
    const [one, two, three] = (await desk.tickets(ordered)) as [TicketRow, TicketRow, TicketRow];
    const [known, unknown] = [randomUUID(), randomUUID()];
    await office.monolith.call('PUT', '/api/v1/me', { as: known, body: { email: 'c@example.hr', name: null, locale: 'hr' } });
    for (const [ticket, to] of [
      [one, known],
      [two, known],
      [three, unknown],
    ] as const)
      await desk.transfer(ticket, to);
    await desk.refund(ordered);
    expect(await desk.receiversTold(ordered)).toEqual([['c@example.hr', 2]]);
    expect(await desk.mails(ordered)).toHaveLength(1);
    await desk.refund(ordered);
    expect(await desk.receiversTold(ordered)).toHaveLength(1);
  });

  test('may have as many others as the limit allows: buyer, receiver, and who gave one back', async () => {
    const match = await onSale({ max_tickets_per_fan: 2 });
    const [buyer, receiver] = [randomUUID(), randomUUID()];
    const ordered = await desk.paid(match, { as: buyer, quantity: 2 });
    const [given, kept] = (await desk.tickets(ordered)) as [TicketRow, TicketRow];
    await desk.transfer(given, receiver);
    const most = async (fan: string): Promise<number> => {
      for (const quantity of [3, 2, 1]) {
        const held = await office.hold(match, { as: fan, quantity });
        if (held.status !== 201) continue;
        await office.release({ id: held.json.id, userId: fan });
        return quantity;
      }
      return 0;
    };
    expect([await most(buyer), await most(receiver)]).toEqual([1, 1]);
    const received = (await desk.tickets(ordered)).find(({ user_id }) => user_id === receiver) as TicketRow;
    await desk.refund(ordered, [received.id]);
    expect([await most(buyer), await most(receiver)]).toEqual([1, 2]);
    await desk.refund(ordered, [kept.id]);
    expect([await most(buyer), await most(receiver)]).toEqual([2, 2]);
    await desk.paid(match, { as: buyer, quantity: 2 });
    expect(await most(buyer)).toBe(0);
    await expectSound(match);
  });

  test('is refused more by whoever counted before the refund, and counts again', async () => {
    const match = await onSale({ max_tickets_per_fan: 2 });
    const fan = randomUUID();
    const ordered = await desk.paid(match, { as: fan, quantity: 2 });
    const revision = async (): Promise<unknown> =>
      (await office.rows<{ revision: number }>(`select revision from fan_seats where user_id = $1`, [fan]))[0]?.revision;
    const before = await revision();
    await desk.refund(ordered);
    expect(await revision()).toBe(Number(before) + 1);
  });
});

describe('at Stripe', () => {
  const peer = new StripePeer();
  let stripe: OpenBoxOffice;
  let atStripe: RefundActions;

  beforeAll(async () => {
    const base = await peer.start();
    stripe = await openBoxOffice({
      ...{ PAYMENT_PROVIDER: 'stripe', STRIPE_API_BASE: base, STRIPE_SECRET_KEY: peer.secretKey },
    });
    atStripe = new RefundActions(stripe.office);
  });
  afterAll(async () => {
    await stripe.close();
    await peer.stop();
  });

  test('each ticket’s money goes back once, though its answer is lost and its keys are forgotten', async () => {
    const match = await putOnSale(stripe.office.monolith, { sectors: [seated('East A')] });
    const ordered = await stripe.office.ordered(await stripe.office.held(match, { quantity: 3 }));
    peer.pay(ordered.intentId);
    await stripe.office.settle(stripe.office.report(ordered));
    const [first] = (await atStripe.tickets(ordered)) as [TicketRow];
    await atStripe.refund(ordered, [first.id]);
    // The list of refunds is read, then the refund is made and its answer does not come.
    peer.faults.push(undefined, 'reset after the effect');
    await atStripe.relay('payments').catch(() => undefined);
    peer.forgetKeys();
    await stripe.office.rows(`update outbox set available_at = now()`);
    await atStripe.relay('payments');
    expect(peer.refunds.map(({ amount }) => amount)).toEqual([2500]);
    await atStripe.refund(ordered);
    await atStripe.relay('payments');
    expect(peer.refunds.map(({ amount, payment_intent }) => [amount, payment_intent])).toEqual([
      [2500, ordered.intentId],
      [5000, ordered.intentId],
    ]);
    const { invariants } = await verifyDatabase(stripe.office.monolith.dataSource, { matchId: match.id });
    expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
    const [waiting] = await stripe.office.rows<{ n: number }>(
      `select count(*)::int as n from outbox where destination = 'payments'`,
    );
    expect(waiting?.n).toBe(0);
  });
});
