import type { Allocation, Quota, QuotaCounts } from '#contracts/quotas';
import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { InvitationCalls } from '../testing/invitation-calls.ts';
import { hoursFromNow, QuotaCalls } from '../testing/quota-calls.ts';

const CAPACITY = 250;
let opened: OpenBoxOffice;
let office: BoxOffice;
let calls: QuotaCalls;
let guests: InvitationCalls;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  calls = new QuotaCalls(office);
  guests = new InvitationCalls(office);
});
beforeEach(async () => {
  match = await putOnSale(office.monolith, { sectors: [seated('North', 20, 10), seated('South', 5, 10)] });
});
afterAll(() => opened.close());

const create = (name: string, kind: string, quantity: number, fields: object = {}): Promise<string> =>
  calls.created(match, { name, kind, places: [{ sector_id: match.sectors[0]?.id, quantity }], ...fields });

/** Two places of the quota that a fan has claimed. */
const claimed = async (quotaId: string) => guests.claimed(await guests.issue(quotaId), randomUUID());
const pay = async (held: Awaited<ReturnType<typeof claimed>>): Promise<string> => {
  const ordered = await office.ordered(held);
  expect(await office.settle(office.report(ordered))).toBe('completed');
  return ordered.orderId;
};
const refund = async (orderId: string): Promise<void> => {
  const answer = await office.monolith.call('POST', `/api/v1/ops/orders/${orderId}/refund`, { ...ops, body: {} });
  expect(answer.status).toBeLessThan(300);
};

/** Places of the public in every state: 3 held, 2 sold, 2 of a hold that has lapsed, 1 refunded, 4 blocked. */
async function sellToPublic(): Promise<void> {
  await office.held(match, { quantity: 3, sector: 1 });
  await pay(await office.held(match, { quantity: 2, sector: 1 }));
  await refund(await pay(await office.held(match, { quantity: 1, sector: 1 })));
  await office.lapse(await office.held(match, { quantity: 2, sector: 1 }));
  await office.block((await office.seatIds(match, 1)).slice(-4));
}

/** A tree of quotas with places in every state, and what each of them has. */
async function fillQuotas(): Promise<Record<string, QuotaCounts>> {
  const club = await create('club', 'club', 30, { never_to: ['visitors'] });
  const section = await create('section', 'club', 8, { parent_id: club });
  const guestsOfClub = await create('guests', 'club', 4, {
    parent_id: club,
    return_at: hoursFromNow(1),
    on_return: 'parent',
  });
  const sponsor = await create('sponsor', 'sponsor', 10, { return_at: hoursFromNow(1) });
  const media = await create('media', 'media', 6, { return_at: hoursFromNow(1), on_return: 'keep' });
  const visitors = await create('visitors', 'visitors', 5);

  await guests.issue(club);
  await claimed(club);
  await pay(await claimed(club));
  await refund(await pay(await claimed(club)));
  await office.lapse(await claimed(club));
  await guests.withdraw(await guests.issue(club));
  await guests.setOver(await guests.issue(club));
  await guests.issue(section);
  expect((await calls.move(section, visitors, { override: true })).status).toBe(202);
  await pay(await claimed(sponsor));
  await guests.issue(media);
  await calls.setReturnDue([sponsor, media, guestsOfClub]);
  await guests.runTask();
  return {
    club: { total: 22, free: 14, invited: 4, held: 2, sold: 2 },
    section: { total: 8, free: 4, invited: 2, held: 2, sold: 0 },
    guests: { total: 0, free: 0, invited: 0, held: 0, sold: 0 },
    sponsor: { total: 2, free: 0, invited: 0, held: 0, sold: 2 },
    media: { total: 6, free: 4, invited: 2, held: 0, sold: 0 },
    visitors: { total: 5, free: 5, invited: 0, held: 0, sold: 0 },
  };
}

const sum = (counts: readonly QuotaCounts[], field: keyof QuotaCounts): number =>
  counts.reduce((total, count) => total + count[field], 0);

/** The numbers of a match, as all routes answer them. */
async function numbers() {
  const [report, allocation, { items }] = await Promise.all([
    calls.get(`/ops/matches/${match.id}/report`).then(({ json }) => json),
    calls.get(`/matches/${match.id}/allocation`).then(({ json }) => json as Allocation),
    calls.get(`/ops/matches/${match.id}/quotas?limit=100`).then(({ json }) => json as { items: Quota[] }),
  ]);
  const sectors: { available: number }[] = (await calls.get(`/matches/${match.id}/sectors`)).json.items;
  return { report, allocation, quotas: items, sectors };
}

/** Compares the numbers of all routes with each other, and has the database verified. */
async function expectAgreement(): Promise<Awaited<ReturnType<typeof numbers>>> {
  const all = await numbers();
  const { report, allocation, quotas, sectors } = all;
  const own = quotas.map(({ places }) => places);
  for (const { places, by_sector } of quotas) {
    expect(places.total).toBe(places.free + places.invited + places.held + places.sold);
    expect([sum(by_sector as never, 'total'), sum(by_sector as never, 'free')]).toEqual([places.total, places.free]);
  }
  expect([report.capacity, allocation.capacity]).toEqual([CAPACITY, CAPACITY]);
  expect(report.available + report.held + report.sold + report.blocked).toBe(CAPACITY);
  expect(allocation.public.total + sum(own, 'total')).toBe(CAPACITY);
  expect(sectors.reduce((total, { available }) => total + available, 0)).toBe(report.available);
  expect(allocation.public.available).toBe(report.available);
  expect(allocation.public.sold + sum(own, 'sold')).toBe(report.sold);
  for (const { kind, total, sold } of allocation.quotas) {
    const ofKind = quotas.filter((quota) => quota.kind === kind).map(({ places }) => places);
    expect([kind, total, sold]).toEqual([kind, sum(ofKind, 'total'), sum(ofKind, 'sold')]);
  }
  expect((await verifyDatabase(office.monolith.dataSource, { matchId: match.id })).ok).toBe(true);
  return all;
}

test('a sale with quotas in every state: report, allocation, quotas, sectors and verify agree', async () => {
  const expected = await fillQuotas();
  await sellToPublic();
  const { report, allocation, quotas } = await expectAgreement();
  expect(Object.fromEntries(quotas.map(({ name, places }) => [name, places]))).toEqual(expected);
  expect(quotas.find(({ name }) => name === 'club')?.subtree).toEqual({ total: 30, free: 18, invited: 6, held: 4, sold: 2 });
  // The places of a pending move are held in their quota. To the public they are blocked, like all places that nobody holds.
  const pendingMove = 2;
  const ofQuotas = Object.values(expected);
  expect(report).toMatchObject({
    held: 3 + sum(ofQuotas, 'held') - pendingMove,
    sold: 2 + sum(ofQuotas, 'sold'),
    blocked: 4 + sum(ofQuotas, 'free') + sum(ofQuotas, 'invited') + pendingMove,
    refunded: 3,
  });
  expect(allocation).toMatchObject({
    public: { total: CAPACITY - sum(ofQuotas, 'total'), held: 3, sold: 2 },
    quotas: [
      { kind: 'club', total: 30, sold: 2, returned: 0 },
      { kind: 'visitors', total: 5, sold: 0, returned: 0 },
      { kind: 'sponsor', total: 2, sold: 2, returned: 8 },
      { kind: 'media', total: 6, sold: 0, returned: 0 },
    ],
  });
}, 30_000);

test('after the cancellation of the match they agree, too', async () => {
  await fillQuotas();
  await office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body: { reason: 'Snow' } });
  await guests.runTask();
  const { quotas } = await expectAgreement();
  expect(
    sum(
      quotas.map(({ places }) => places),
      'invited',
    ),
  ).toBe(0);
}, 30_000);
