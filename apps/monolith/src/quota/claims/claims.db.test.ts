import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { Reservations } from '../../purchase/hold/application/reservation-ports.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { newKey } from '../../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { InvitationCalls, type Issued } from '../testing/invitation-calls.ts';
import { hoursFromNow, QuotaCalls } from '../testing/quota-calls.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let calls: QuotaCalls;
let guests: InvitationCalls;
let match: MatchOnSale;
let ana: string;
let iva: string;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  calls = new QuotaCalls(office);
  guests = new InvitationCalls(office);
});
afterAll(() => opened.close());
beforeEach(async () => {
  [ana, iva] = [randomUUID(), randomUUID()];
  match = await putOnSale(office.monolith, { sectors: [seated('East A')], max_tickets_per_fan: 2 });
});
afterEach(async () => {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.filter(({ broken }) => broken > 0)).toEqual([]);
});

const setSale = (status: string) => office.rows(`update matches set sale_status = $2 where id = $1`, [match.id, status]);
const blacklist = (userId: string) =>
  office.rows(`insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) values ($1, $1, 'touting', $1, now())`, [
    userId,
  ]);
const sweep = () => office.monolith.get(Reservations).expireDueReservations(200);

/** A quota of 10 places, and an invitation to two of them. */
async function invited(fields: object = {}, ...options: [row?: object, settings?: Record<string, unknown>]) {
  const places = [{ sector_id: match.sectors[0]?.id, quantity: 10 }];
  const quotaId = await calls.created(match, { places, ...fields });
  return { quotaId, invitation: await guests.issue(quotaId, ...options) };
}
const freePrice = () => ({ price_cents: { [match.sectors[0]?.id ?? '']: 0 } });
const countsOf = async (quotaId: string) => (await calls.quota(quotaId)).places;
const shown = async (invitation: Issued): Promise<string> => (await guests.lookUp(invitation)).json.status;
async function paid(held: HeldSeats) {
  const ordered = await office.ordered(held);
  expect(await office.settle(office.report(ordered))).toBe('completed');
  return ordered;
}

describe('looking up an invitation', () => {
  test('shows match, places and price to everybody who has the token, without an account and a key', async () => {
    const sectorId = match.sectors[0]?.id ?? '';
    const [opens_at, claim_until] = [hoursFromNow(1), hoursFromNow(20)];
    const { invitation } = await invited({ price_cents: { [sectorId]: 1250 }, opens_at, claim_until });
    const { status, json, headers } = await guests.lookUp(invitation);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(json).toEqual({
      match: expect.objectContaining({ id: match.id, home: 'Hrvatska', away: 'Italija', venue: 'Maksimir' }),
      quota_name: 'Torcida',
      seats: invitation.seatIds.map((seat_id) => expect.objectContaining({ seat_id, sector: 'East A', row: expect.any(String) })),
      quantity: 2,
      total_cents: 2500,
      currency: 'EUR',
      opens_at,
      claim_until: expect.any(String),
      status: 'open',
    });
  });

  test('without a price of the quota the sector’s price counts', async () => {
    const { invitation } = await invited();
    expect((await guests.lookUp(invitation)).json).toMatchObject({ total_cents: 5000, opens_at: null });
    expect((await guests.claim(invitation, ana)).json.total_cents).toBe(5000);
  });

  test('an unknown token of any length is 404, something else is 400', async () => {
    for (const length of [22, 42, 43, 44]) {
      const token = `inv_${'A'.repeat(length)}`;
      expect((await guests.lookUp({ token })).json.code).toBe('NOT_FOUND');
      expect((await guests.claim({ token }, ana)).json.code).toBe('NOT_FOUND');
    }
    for (const token of ['', 'inv_', `inv_${'A'.repeat(201)}`, `inv_${'ć'.repeat(43)}`, `st_${'A'.repeat(43)}`])
      expect((await guests.lookUp({ token })).json.code).toBe('VALIDATION_FAILED');
  });
});

describe('a claim', () => {
  test('holds the places for the ordinary checkout; repeated it is 200 with the same reservation', async () => {
    const { quotaId, invitation } = await invited({ price_cents: { [match.sectors[0]?.id ?? '']: 1250 } });
    const first = await guests.claim(invitation, ana);
    expect([first.status, first.headers.location]).toEqual([201, `/api/v1/reservations/${first.json.id}`]);
    expect(first.json).toMatchObject({ status: 'held', total_cents: 2500, together: true, match_id: match.id });
    expect(first.json.seats.map(({ seat_id }: { seat_id: string }) => seat_id)).toEqual(invitation.seatIds);
    const again = await guests.claim(invitation, ana);
    expect([again.status, again.json, again.headers.location]).toEqual([200, first.json, undefined]);
    expect([await shown(invitation), await countsOf(quotaId)]).toEqual([
      'claimed',
      { total: 10, free: 8, invited: 0, held: 2, sold: 0 },
    ]);
    const ordered = await paid({ ...first.json, userId: ana, seatIds: invitation.seatIds });
    expect((await guests.claim(invitation, ana)).json).toMatchObject({ id: first.json.id, status: 'completed' });
    expect((await office.order(ordered)).tickets).toHaveLength(2);
    expect([await shown(invitation), await countsOf(quotaId)]).toEqual([
      'claimed',
      { total: 10, free: 8, invited: 0, held: 0, sold: 2 },
    ]);
  });

  test('a key gets its first answer again', async () => {
    const { invitation } = await invited();
    const call = { as: ana, key: newKey(), body: { token: invitation.token } };
    const url = '/api/v1/invitations/claim';
    const [first, again] = [await office.monolith.call('POST', url, call), await office.monolith.call('POST', url, call)];
    expect([first.status, again.status, again.headers['idempotency-replayed']]).toEqual([201, 201, 'true']);
    expect(again.json).toEqual(first.json);
    expect((await office.monolith.call('POST', url, { ...call, key: null })).json.code).toBe('IDEMPOTENCY_KEY_REQUIRED');
  });

  test('of a forwarded invitation works for the first fan who claims it; the others get INVITATION_CLAIMED until the hold ends', async () => {
    const { invitation } = await invited();
    const held = await guests.claimed(invitation, iva);
    const other = await guests.claim(invitation, ana);
    expect([other.status, other.json.code]).toEqual([409, 'INVITATION_CLAIMED']);
    await office.release(held);
    expect([await shown(invitation), (await guests.claim(invitation, ana)).status]).toEqual(['open', 201]);
    expect((await guests.claim(invitation, iva)).json.code).toBe('INVITATION_CLAIMED');
  });

  test('of an invitation with user_id works for that fan only; for all others it does not exist', async () => {
    const { invitation } = await invited({}, { user_id: ana });
    const other = await guests.claim(invitation, iva);
    expect([other.status, other.json.code]).toEqual([404, 'NOT_FOUND']);
    expect((await guests.claim(invitation, ana)).status).toBe(201);
    expect((await guests.claim(invitation, iva)).json.code).toBe('NOT_FOUND');
  });

  test('of a blacklisted fan is BLACKLISTED, and the invitation stays open for others', async () => {
    const { invitation } = await invited();
    await blacklist(ana);
    expect((await guests.claim(invitation, ana)).json.code).toBe('BLACKLISTED');
    const held = await guests.claimed(invitation, iva);
    await blacklist(iva);
    expect((await office.checkOut(held)).json.code).toBe('BLACKLISTED');
  });

  test('needs no turn in a match with a waiting room, nor does its checkout', async () => {
    match = await putOnSale(office.monolith, { sectors: [seated('East A')], queue_required: true });
    const { invitation } = await invited();
    expect((await office.hold(match, { as: ana })).json.code).toBe('PURCHASE_WINDOW_REQUIRED');
    const ordered = await paid(await guests.claimed(invitation, ana));
    expect((await office.order(ordered)).status).toBe('completed');
  });

  test('and its tickets do not count for max_tickets_per_fan', async () => {
    const { invitation } = await invited({}, { quantity: 4 });
    await paid(await guests.claimed(invitation, ana));
    await paid(await office.held(match, { as: ana, quantity: 2 }));
    expect((await office.hold(match, { as: ana })).json.code).toBe('TICKET_LIMIT_REACHED');
  });

  test('before opens_at is SALE_NOT_OPEN with that time', async () => {
    const opens_at = hoursFromNow(1);
    const { quotaId, invitation } = await invited({ opens_at, claim_until: hoursFromNow(2) });
    const { status, json } = await guests.claim(invitation, ana);
    expect([status, json]).toEqual([409, expect.objectContaining({ code: 'SALE_NOT_OPEN', sale_status: 'open', opens_at })]);
    await office.rows(`update quotas set opens_at = now() where id = $1`, [quotaId]);
    expect((await guests.claim(invitation, ana)).status).toBe(201);
  });

  test.each(['scheduled', 'open', 'paused', 'sold_out'])('and its payment work in a sale that is %s', async (status) => {
    await setSale(status);
    if (status === 'scheduled') await office.rows(`update matches set opens_at = null where id = $1`, [match.id]);
    const { invitation } = await invited();
    await paid(await guests.claimed(invitation, ana));
  });

  test('in a closed sale is SALE_NOT_OPEN, also when the invitation has ended, and so is the checkout', async () => {
    const { quotaId, invitation } = await invited();
    const [held, other] = [await guests.claimed(invitation, ana), await guests.issue(quotaId)];
    const withdrawn = await guests.issue(quotaId);
    await guests.withdraw(withdrawn);
    await setSale('closed');
    for (const answer of [await office.checkOut(held), await guests.claim(other, iva), await guests.claim(withdrawn, iva)])
      expect([answer.status, answer.json.code, answer.json.sale_status]).toEqual([409, 'SALE_NOT_OPEN', 'closed']);
  });

  test('gives a hold that ends at claim_until at the latest', async () => {
    const claim_until = hoursFromNow(1 / 60);
    const { invitation } = await invited({ claim_until });
    expect((await guests.claim(invitation, ana)).json.expires_at).toBe(claim_until);
  });

  test('may be repeated by others when its hold has expired unpaid, before and after the sweeper', async () => {
    const { quotaId, invitation } = await invited();
    await office.lapse(await guests.claimed(invitation, ana));
    expect(await shown(invitation)).toBe('open');
    await office.lapse(await guests.claimed(invitation, iva));
    await sweep();
    expect([await shown(invitation), await countsOf(quotaId)]).toEqual([
      'open',
      { total: 10, free: 8, invited: 2, held: 0, sold: 0 },
    ]);
    expect((await guests.claim(invitation, ana)).status).toBe(201);
  });
});

test('64 fans claim at once: each gets the places, because a claim needs one connection of the pool only', async () => {
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 8, 10)] });
  const quotaId = await calls.created(match, { places: [{ sector_id: match.sectors[0]?.id, quantity: 64 }] });
  const issued: Issued[] = [];
  for (let n = 0; n < 64; n += 1) issued.push(await guests.issue(quotaId, { quantity: 1 }));
  const answers = await Promise.all(issued.map((invitation) => guests.claim(invitation, randomUUID())));
  expect(answers.map(({ status, json }) => json.code ?? status)).toEqual(issued.map(() => 201));
}, 60_000);

describe('an invitation free of charge', () => {
  test('is bought in its checkout: completed, without a payment, with tickets and mails; repeated it is the same order', async () => {
    const { quotaId, invitation } = await invited(freePrice());
    expect((await guests.lookUp(invitation)).json.total_cents).toBe(0);
    const held = await guests.claimed(invitation, ana);
    const [first, again] = [await office.checkOut(held), await office.checkOut(held)];
    expect([first.status, first.json.status, first.json.payment]).toEqual([201, 'completed', null]);
    expect([again.status, again.json]).toEqual([200, first.json]);
    const order = (await office.monolith.call('GET', `/api/v1/orders/${first.json.order_id}`, { as: ana })).json;
    expect([order.status, order.total_cents, order.tickets.length]).toEqual(['completed', 0, 2]);
    const mails = (await office.outbox(first.json.order_id)).filter(({ destination }) => destination === 'email');
    expect(mails.map(({ body }) => body.template).toSorted()).toEqual(['order_confirmation', 'ticket_delivery']);
    expect((await office.outbox(first.json.order_id)).filter(({ destination }) => destination === 'payments')).toEqual([]);
    expect([await shown(invitation), (await countsOf(quotaId)).sold]).toEqual(['claimed', 2]);
    expect((await guests.withdraw(invitation)).json.code).toBe('INVALID_STATE');
  });
});

describe('refunded tickets', () => {
  test('are free places of their quota, and the invitation stays claimed for ever', async () => {
    const { quotaId, invitation } = await invited({ max_per_invitation: 10 });
    const ordered = await paid(await guests.claimed(invitation, ana));
    await office.monolith.call('POST', `/api/v1/ops/orders/${ordered.orderId}/refund`, { ...ops, body: {} });
    expect(await countsOf(quotaId)).toEqual({ total: 10, free: 10, invited: 0, held: 0, sold: 0 });
    const again = await guests.issue(quotaId, { quantity: 10 });
    for (const fan of [ana, iva]) expect((await guests.claim(invitation, fan)).json.code).toBe('INVITATION_EXPIRED');
    expect([await shown(invitation), (await guests.withdraw(invitation)).json.code]).toEqual(['claimed', 'INVALID_STATE']);
    await guests.setOver(invitation);
    expect([await guests.runTask(), await guests.stored(invitation), await shown(again)]).toEqual([1, 'claimed', 'open']);
  });
});
