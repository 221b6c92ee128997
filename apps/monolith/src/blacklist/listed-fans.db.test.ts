import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { newKey, type TestAnswer } from '../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { offerTicket } from '../testing/transfer-calls.ts';

// What a fan on the blacklist cannot do, and which refusal wins if several rules refuse.

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 10, 10)] });
});
afterAll(() => opened.close());

async function list(userId: string, forMs?: number): Promise<void> {
  const until = forMs === undefined ? {} : { until: new Date(Date.now() + forMs).toISOString() };
  const body = { user_id: userId, reason: 'Of the test', ...until };
  expect((await office.monolith.call('POST', '/api/v1/ops/blacklist', { ...ops, body })).status).toBe(201);
}
const lift = (userId: string) => office.monolith.call('DELETE', `/api/v1/ops/blacklist/${userId}`, ops);
const statusAndCode = ({ status, json }: TestAnswer): string => (status < 300 ? String(status) : `${status} ${json.code}`);
const REFUSED = '403 BLACKLISTED';

describe('a hold of a fan on the blacklist', () => {
  test('is refused and takes no seat; after the fan is taken off, the same idempotency key succeeds', async () => {
    const [fan, key] = [randomUUID(), newKey()];
    const seatIds = (await office.seatIds(match)).slice(0, 1);
    await list(fan);
    const refusal = await office.hold(match, { as: fan, seatIds, key });
    expect(statusAndCode(refusal)).toBe(REFUSED);
    expect(JSON.stringify(refusal.json)).not.toContain('Of the test');
    expect(await office.holderOf(seatIds[0]!)).toEqual({ status: 'available', reservation_id: null });
    await lift(fan);
    expect(statusAndCode(await office.hold(match, { as: fan, seatIds, key }))).toBe('201');
  });

  test('is possible again once the `until` of the entry has passed', async () => {
    const fan = randomUUID();
    await list(fan, 400);
    expect(statusAndCode(await office.hold(match, { as: fan }))).toBe(REFUSED);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const held = await office.held(match, { as: fan });
    expect(statusAndCode(await office.checkOut(held))).toBe('201');
  });

  test.each<[string, string, (fan: string) => Promise<TestAnswer>]>([
    ['invalid fields', '400 VALIDATION_FAILED', (fan) => office.hold(match, { as: fan, quantity: 21 })],
    [
      'an unknown sector',
      '404 NOT_FOUND',
      (fan) => office.hold({ id: match.id, sectors: [{ ...match.sectors[0]!, id: randomUUID() }] }, { as: fan }),
    ],
    ['a closed sale', REFUSED, async (fan) => office.hold(await closed(), { as: fan })],
    [
      'a missing purchase window',
      REFUSED,
      async (fan) => office.hold(await putOnSale(office.monolith, { queue_required: true }), { as: fan }),
    ],
    ['more seats than the limit', REFUSED, (fan) => office.hold(match, { as: fan, quantity: 5 })],
    [
      'seats that another fan holds',
      REFUSED,
      async (fan) => office.hold(match, { as: fan, seatIds: (await office.held(match)).seatIds }),
    ],
  ])('with a second reason to refuse it (%s) is answered %s', async (_what, expected, hold) => {
    const fan = randomUUID();
    await list(fan);
    expect(statusAndCode(await hold(fan))).toBe(expected);
  });

  async function closed(): Promise<MatchOnSale> {
    const closedMatch = await putOnSale(office.monolith, { sectors: [seated('East A', 1, 2)] });
    await office.rows(`update matches set sale_status = 'closed' where id = $1`, [closedMatch.id]);
    return closedMatch;
  }
});

describe('a checkout by a fan on the blacklist', () => {
  test('of a hold that is older than the blacklist entry is refused, alone and in a batch with other fans, and makes no order', async () => {
    const [listed, others] = [await office.held(match), await Promise.all([1, 2, 3].map(() => office.held(match)))];
    await list(listed.userId);
    expect(statusAndCode(await office.checkOut(listed))).toBe(REFUSED);
    const answers = await Promise.all([listed, ...others].map((held) => office.checkOut(held)));
    expect(answers.map(statusAndCode)).toEqual([REFUSED, '201', '201', '201']);
    expect(await office.rows(`select 1 from orders where user_id = $1`, [listed.userId])).toEqual([]);
    await lift(listed.userId);
    expect(statusAndCode(await office.checkOut(listed))).toBe('201');
  });

  test('that succeeded before the fan was put on the blacklist is refused when it is repeated', async () => {
    const ordered = await office.ordered(await office.held(match));
    await list(ordered.held.userId);
    expect(statusAndCode(await office.checkOut(ordered.held))).toBe(REFUSED);
  });

  test('of another fan’s hold is 404, and of an expired hold of one’s own 403 BLACKLISTED', async () => {
    const [foreign, expired, fan] = [await office.held(match), await office.held(match), randomUUID()];
    await list(fan);
    await list(expired.userId);
    await office.lapse(expired);
    expect(statusAndCode(await office.checkOut(foreign, { as: fan }))).toBe('404 NOT_FOUND');
    expect(statusAndCode(await office.checkOut(expired))).toBe(REFUSED);
  });

  test('is refused, but the fan can release the hold: DELETE is 204', async () => {
    const held = await office.held(match);
    await list(held.userId);
    const { status } = await office.monolith.call('DELETE', `/api/v1/reservations/${held.id}`, { as: held.userId });
    expect([status, await office.reservation(held)]).toEqual([204, 'released']);
  });
});

describe('a payment for an order that is older than the blacklist entry of its fan', () => {
  test('is refunded in full, the seats are for sale again and no ticket is made; other fans’ payments at the same time complete', async () => {
    const [listed, other] = [await office.ordered(await office.held(match)), await office.ordered(await office.held(match))];
    await list(listed.held.userId);
    const settled = await Promise.all([listed, other].map((ordered) => office.settle(office.report(ordered))));
    expect(settled).toEqual(['refunded', 'completed']);
    const order = await office.order(listed);
    expect([order.status, order.tickets, order.timeline.map(({ event }: { event: string }) => event)]).toEqual([
      'refunded',
      [],
      ['created', 'payment_succeeded', 'blacklisted', 'refunded'],
    ]);
    expect(await office.holderOf(listed.held.seatIds[0]!)).toEqual({ status: 'available', reservation_id: null });
    const refund = (await office.outbox(listed.orderId)).find(({ destination }) => destination === 'payments');
    expect(refund?.body).toMatchObject({ kind: 'refund', amountCents: listed.held.total_cents });
  });

  test('has no second effect when it is reported again after the refund, even if the fan was taken off the blacklist', async () => {
    const ordered = await office.ordered(await office.held(match));
    await list(ordered.held.userId);
    await office.settle(office.report(ordered));
    await lift(ordered.held.userId);
    expect(await office.settle(office.report(ordered))).toBe('noted');
  });

  test('that completed before the fan was put on the blacklist leaves the ticket valid', async () => {
    const ordered = await office.ordered(await office.held(match));
    await office.settle(office.report(ordered));
    await list(ordered.held.userId);
    expect((await office.order(ordered)).tickets).toMatchObject([{ status: 'valid' }]);
  });
});

describe('a transfer', () => {
  async function ticket(): Promise<{ id: string; fan: string }> {
    const ordered = await office.ordered(await office.held(match));
    await office.settle(office.report(ordered));
    return { id: (await office.order(ordered)).tickets[0].id, fan: ordered.held.userId };
  }
  const offer = ({ id, fan }: { id: string; fan: string }, to: string): Promise<string> =>
    offerTicket(office.monolith, { ticketId: id, from: fan, to }).then((offered) => offered.id);
  const accept = (offerId: string, as: string, more: { key?: string } = {}) =>
    office.monolith.call('POST', `/api/v1/transfers/${offerId}/accept`, { as, ...more });

  test('can be offered to a fan on the blacklist, so that the giver does not learn who is on it', async () => {
    const [given, receiver] = [await ticket(), randomUUID()];
    await list(receiver);
    expect(await offer(given, receiver)).toEqual(expect.any(String));
  });

  test('is refused to a fan on the blacklist who accepts, and the ticket stays valid; after the fan is taken off, the same idempotency key succeeds', async () => {
    const [given, receiver, key] = [await ticket(), randomUUID(), newKey()];
    const offerId = await offer(given, receiver);
    await list(receiver);
    expect(statusAndCode(await accept(offerId, receiver, { key }))).toBe(REFUSED);
    const mine = await office.monolith.call('GET', `/api/v1/tickets/${given.id}`, { as: given.fan });
    expect(mine.json.status).toBe('valid');
    await lift(receiver);
    expect(statusAndCode(await accept(offerId, receiver, { key }))).toBe('200');
  });

  test('to a fan on the blacklist: another fan’s offer is 404 NOT_FOUND, and one’s own of a used ticket is 403 BLACKLISTED', async () => {
    const [given, receiver] = [await ticket(), randomUUID()];
    const offerId = await offer(given, receiver);
    await list(receiver);
    await office.rows(`update tickets set status = 'used' where id = $1`, [given.id]);
    expect(statusAndCode(await accept(offerId, randomUUID()))).toBe('404 NOT_FOUND');
    expect(statusAndCode(await accept(offerId, receiver))).toBe(REFUSED);
    await lift(receiver);
    expect(statusAndCode(await accept(offerId, receiver))).toBe('409 INVALID_STATE');
  });

  test('from a fan on the blacklist to a fan who is not on it is allowed', async () => {
    const [given, receiver] = [await ticket(), randomUUID()];
    await list(given.fan);
    expect(statusAndCode(await accept(await offer(given, receiver), receiver))).toBe('200');
  });
});
