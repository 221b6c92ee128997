import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { SEAT_STATES } from '../hold/outbound/sector-seats.sql.ts';
import { PartnerSalesApi } from '../partner-sales.api.ts';
import { PurchaseApi } from '../purchase.api.ts';
import { CheckSale } from '../../operations/check-sale.ts';
import { PlacesNotFree } from '../quota-places.api.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { QuotaOffice } from '../testing/quota-office.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let quotas: QuotaOffice;
let match: MatchOnSale;
let seats: readonly string[];

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  quotas = new QuotaOffice(office);
});
afterAll(() => opened.close());
beforeEach(async () => {
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 2, 10), seated('West', 1, 4)] });
  seats = await office.seatIds(match);
});
afterEach(async () => {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.filter(({ broken }) => broken > 0)).toEqual([]);
});

const report = async () => (await office.monolith.call('GET', `/api/v1/ops/matches/${match.id}/report`, ops)).json;
const seatStatus = async (seatId: string | undefined): Promise<string> => {
  const url = `/api/v1/matches/${match.id}/sectors/${match.sectors[0]?.id}/seats`;
  const { json } = await office.monolith.call('GET', url);
  return json.items.find(({ id }: { id: string }) => id === seatId).status;
};
const capacity = async () => {
  const { capacity: all, available, held, sold, blocked } = await report();
  return [all, available + held + sold + blocked, { available, held, sold, blocked }];
};

describe('move', () => {
  test('places of a quota are blocked for the public, and for sale again when they come back', async () => {
    const quotaId = await quotas.quota(match, seats.slice(0, 5));
    expect([await quotas.counts(match, quotaId), await quotas.counts(match, null)]).toEqual([
      [5, 5, 0, 0, 0],
      [19, 19, 0, 0, 0],
    ]);
    expect(await seatStatus(seats[0])).toBe('blocked');
    expect((await office.hold(match, { seatIds: seats.slice(0, 1) })).json.code).toBe('SEATS_UNAVAILABLE');
    await quotas.move({ matchId: match.id, from: quotaId, to: null, seatIds: seats.slice(0, 2) });
    expect(await seatStatus(seats[0])).toBe('available');
    expect((await office.hold(match, { seatIds: seats.slice(0, 2) })).status).toBe(201);
    expect([await quotas.counts(match, quotaId), await capacity()]).toEqual([
      [3, 3, 0, 0, 0],
      [24, 24, { available: 19, held: 2, sold: 0, blocked: 3 }],
    ]);
  });

  test.each([
    ['held', () => office.held(match, { seatIds: seats.slice(0, 1) })],
    [
      'sold',
      async () => office.settle(office.report(await office.ordered(await office.held(match, { seatIds: seats.slice(0, 1) })))),
    ],
    ['blocked', () => office.block(seats.slice(0, 1))],
    ['of another quota', () => quotas.quota(match, seats.slice(0, 1))],
  ])('moves nothing if one of the places is %s', async (_, take) => {
    await take();
    const before = await quotas.counts(match, null);
    await expect(quotas.quota(match, seats.slice(0, 3))).rejects.toThrow(new PlacesNotFree(2, 3));
    expect(await quotas.counts(match, null)).toEqual(before);
  });

  test('a public seat whose hold has expired moves at once, and its late payment is refunded', async () => {
    const ordered = await office.ordered(await office.held(match, { seatIds: seats.slice(0, 2) }));
    await office.lapse(ordered.held);
    const quotaId = await quotas.quota(match, seats.slice(0, 2));
    expect(await office.settle(office.report(ordered))).toBe('refunded');
    expect(await quotas.counts(match, quotaId)).toEqual([2, 2, 0, 0, 0]);
  });

  test('places bound to a pending move count as held, and move only with that move', async () => {
    const [from, to] = [await quotas.quota(match, seats.slice(0, 3)), await quotas.quota(match, seats.slice(3, 4))];
    const [request] = await office.rows<{ id: string }>(
      `insert into quota_move_requests (id, match_id, from_quota, to_quota, seat_ids, reason, rule, actor, expires_at)
       values (gen_random_uuid(), $1, $2, $3, $4, 'r', 'never_to', 'a', now() + interval '1 day') returning id`,
      [match.id, from, to, seats.slice(0, 2)],
    );
    const boundTo = request?.id ?? '';
    await quotas.inTransaction((tx) => quotas.places.bind(tx, from, [{ boundTo, seatIds: seats.slice(0, 2) }]));
    expect(await quotas.counts(match, from)).toEqual([3, 1, 0, 2, 0]);
    await expect(quotas.move({ matchId: match.id, from, to, seatIds: seats.slice(0, 2) })).rejects.toThrow(PlacesNotFree);
    await quotas.move({ matchId: match.id, from, to, seatIds: seats.slice(0, 2), boundTo });
    await office.rows(`update quota_move_requests set status = 'approved', decided_by = 'b', decided_at = now() where id = $1`, [
      boundTo,
    ]);
    expect([await quotas.counts(match, from), await quotas.counts(match, to)]).toEqual([
      [1, 1, 0, 0, 0],
      [3, 3, 0, 0, 0],
    ]);
  });

  test('the database refuses a place of a quota of another match, and a place of a quota that is for sale', async () => {
    const other = await putOnSale(office.monolith);
    const quotaId = await quotas.quota(other, (await office.seatIds(other)).slice(0, 1));
    const take = (sql: string) => office.rows(`update seats set ${sql} where id = $2`, [quotaId, seats[0]]);
    await expect(take(`quota_id = $1, status = 'blocked'`)).rejects.toThrow('seats_quota_fkey');
    const ownQuotaId = await quotas.quota(match, seats.slice(0, 1));
    await expect(office.rows(`update seats set status = 'available' where quota_id = $1`, [ownQuotaId])).rejects.toThrow(
      'seats_quota_not_for_sale',
    );
    await expect(office.rows(`update seats set bound_to = $1 where id = $2`, [randomUUID(), seats[5]])).rejects.toThrow(
      'seats_bound_in_quota',
    );
  });

  test('free lists the places of the owner in the order of ranks, without bound ones and other sectors', async () => {
    const west = await office.seatIds(match, 1);
    const quotaId = await quotas.quota(match, [...seats.slice(0, 4), ...west.slice(0, 2)]);
    await quotas.invite(match, quotaId, seats.slice(0, 1));
    const sectorIds = [match.sectors[0]?.id ?? ''];
    const inQuota = await quotas.places.free({ matchId: match.id, quotaId, sectorIds });
    expect(inQuota.map(({ seatId }) => seatId).sort()).toEqual(seats.slice(1, 4).toSorted());
    const ofPublic = await quotas.places.free({ matchId: match.id, quotaId: null });
    expect(ofPublic).toHaveLength(18);
    expect(ofPublic.filter(({ sectorId }) => sectorId === sectorIds[0]).map(({ rank }) => rank)).toEqual(
      ofPublic
        .filter(({ sectorId }) => sectorId === sectorIds[0])
        .map(({ rank }) => rank)
        .toSorted((a, b) => a - b),
    );
  });
});

describe('the public numbers', () => {
  test('a sector whose other places are held in quotas is sold out, not held', async () => {
    const quotaId = await quotas.quota(match, seats);
    const invited = await quotas.invite(match, quotaId, seats.slice(0, 2));
    await quotas.claimed(invited);
    expect((await office.hold(match)).json).toMatchObject({ code: 'SOLD_OUT', available: 0, other_sectors: true });
    expect([await seatStatus(seats[0]), await seatStatus(seats[2])]).toEqual(['held', 'blocked']);
    expect(await capacity()).toEqual([24, 24, { available: 4, held: 2, sold: 0, blocked: 18 }]);
  });

  test('ALL_SEATS_HELD names the end of a public hold, not of an earlier hold of an invitation', async () => {
    const quotaId = await quotas.quota(match, seats.slice(0, 18));
    await quotas.claimed(await quotas.invite(match, quotaId, seats.slice(0, 2)), { until: new Date(Date.now() + 60_000) });
    const held = await office.held(match, { quantity: 2 });
    expect((await office.hold(match)).json).toMatchObject({ code: 'ALL_SEATS_HELD', next_expiry_at: held.expires_at });
  });

  test('an expired hold of an invitation is blocked for every reader, before and after the sweeper, and never for sale', async () => {
    const quotaId = await quotas.quota(match, seats);
    const invited = await quotas.invite(match, quotaId, seats.slice(0, 2));
    const held = await quotas.claimed(invited);
    await office.lapse(held);
    const readers = async () => [
      await seatStatus(seats[0]),
      (await office.hold(match)).json.code,
      (await office.hold(match, { seatIds: seats.slice(0, 1) })).json.code,
      await quotas.counts(match, quotaId),
      (await capacity())[2],
      await office.reservation(held),
    ];
    const expected = [
      'blocked',
      'SOLD_OUT',
      'SEATS_UNAVAILABLE',
      [20, 18, 2, 0, 0],
      { available: 4, held: 0, sold: 0, blocked: 20 },
      'expired',
    ];
    expect(await readers()).toEqual(expected);
    expect(await sweep()).toBeGreaterThan(0);
    expect([await quotas.place(seats[0]), ...(await readers())]).toEqual(['blocked of a quota bound', ...expected]);
  });
});

test('the end of a hold of an invitation does not make the hold queue read the sector again', async () => {
  const { text, values } = SEAT_STATES.with({ sectorId: match.sectors[0]?.id ?? '' });
  const quotaId = await quotas.quota(match, seats.slice(0, 4));
  const held = await quotas.claimed(await quotas.invite(match, quotaId, seats.slice(0, 2)));
  const nextExpiry = async () => (await office.rows<{ nextExpiryMs: number | null }>(text, values))[0]?.nextExpiryMs;
  expect(await nextExpiry()).toBeNull();
  await office.lapse(held);
  expect(await nextExpiry()).toBeNull();
  const publicHold = await office.held(match);
  expect(await nextExpiry()).toBe(new Date(publicHold.expires_at).getTime());
});

describe('a sale with quotas', () => {
  const checkSale = () => office.monolith.get(CheckSale).endOrReopen(match.id);

  test('is sold out when the public has no seats, although places are held in quotas, and opens when places come back', async () => {
    const west = await office.seatIds(match, 1);
    const quotaId = await quotas.quota(match, [...seats, ...west.slice(1)]);
    await quotas.claimed(await quotas.invite(match, quotaId, seats.slice(0, 2)));
    const last = await office.held(match, { seatIds: west.slice(0, 1) });
    const purchase = office.monolith.get(PurchaseApi);
    expect(await purchase.seatsLeftNow(match.id)).toMatchObject({ free: 0, held: 1, usefulWindows: 0 });
    expect(await checkSale()).toBe('open');
    await office.settle(office.report(await office.ordered(last)));
    expect([await checkSale(), (await purchase.seatsLeftNow(match.id)).held]).toEqual(['sold_out', 0]);
    await quotas.move({ matchId: match.id, from: quotaId, to: null, seatIds: west.slice(1, 2) });
    expect([(await purchase.seatsLeft(match.id)).free, await checkSale()]).toEqual([1, 'open']);
  });

  test('a partner’s sale of its places is a conflict, also while a fan holds them, and is not applied again', async () => {
    const quotaId = await quotas.quota(match, seats.slice(0, 3));
    await quotas.claimed(await quotas.invite(match, quotaId, seats.slice(0, 1)));
    const sold = await quotas.invite(match, quotaId, seats.slice(1, 2));
    await office.settle(office.report(await office.ordered(await quotas.claimed(sold))));
    const event = { source: 'partner', eventId: 'e1', begin: () => Promise.resolve(true), end: () => Promise.resolve() };
    const sale = { type: 'partner.sale', reference: 'r1', match_id: match.id, seat_ids: seats.slice(0, 4), sold_at: SOLD_AT };
    const { conflicts, again } = await office.monolith.get(PartnerSalesApi).apply(sale, event);
    const told = conflicts.map(({ subject, code, detail }) => [subject, code, detail.replace(/^.*: /, '')]);
    expect([told, again]).toEqual([
      [
        [seats[0], 'SEAT_BLOCKED', 'it belongs to a quota'],
        [seats[1], 'SEAT_SOLD', 'it is sold here too'],
        [seats[2], 'SEAT_BLOCKED', 'it belongs to a quota'],
      ],
      undefined,
    ]);
    expect(await Promise.all(seats.slice(0, 4).map((seatId) => quotas.place(seatId)))).toEqual([
      'held of a quota bound',
      'sold of a quota bound',
      'blocked of a quota',
      'blocked of the public',
    ]);
    await expect(quotas.move({ matchId: match.id, from: null, to: quotaId, seatIds: seats.slice(3, 4) })).rejects.toThrow(
      PlacesNotFree,
    );
  });
});

const SOLD_AT = '2026-11-01T10:00:00Z';
const sweep = async (): Promise<number> => (await office.monolith.get(Reservations).expireDueReservations(200)).ended;
