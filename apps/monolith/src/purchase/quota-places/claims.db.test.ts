import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';
import { QuotaOffice, type Invited } from '../testing/quota-office.ts';
import { giveTicket } from '../../testing/transfer-calls.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let quotas: QuotaOffice;
let match: MatchOnSale;
let seats: readonly string[];
let quotaId: string;
let invited: Invited;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  quotas = new QuotaOffice(office);
});
afterAll(() => opened.close());
beforeEach(async () => {
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 2, 10)], max_tickets_per_fan: 2 });
  seats = await office.seatIds(match);
  quotaId = await quotas.quota(match, seats.slice(0, 10));
  invited = await quotas.invite(match, quotaId, seats.slice(0, 3));
});
afterEach(async () => {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.filter(({ broken }) => broken > 0)).toEqual([]);
});

const setSale = (status: string) => office.rows(`update matches set sale_status = $2 where id = $1`, [match.id, status]);
const sweep = () => office.monolith.get(Reservations).expireDueReservations(200);
const fanRows = (userId: string) => office.rows(`select from fan_seats where user_id = $1`, [userId]);
const placesOf = () => Promise.all(invited.seatIds.map((seatId) => quotas.place(seatId)));
/** Buys the places of the invitation. */
async function bought(options: Parameters<QuotaOffice['claimed']>[1] = {}) {
  const ordered = await office.ordered(await quotas.claimed(invited, options));
  expect(await office.settle(office.report(ordered))).toBe('completed');
  return ordered;
}

describe('a claim', () => {
  test('holds the places at the price of the quota, above the limit of the match and without counting for the fan', async () => {
    const held = await quotas.claimed(invited);
    expect(held).toMatchObject({ status: 'held', total_cents: 6000, together: true, match_id: match.id });
    expect((held as unknown as { seats: unknown[] }).seats).toHaveLength(3);
    expect([await quotas.counts(match, quotaId), await fanRows(held.userId)]).toEqual([[10, 7, 0, 3, 0], []]);
    expect((await office.hold(match, { as: held.userId, quantity: 2 })).status).toBe(201);
    expect((await office.hold(match, { as: held.userId, quantity: 1 })).json.code).toBe('TICKET_LIMIT_REACHED');
  });

  test('that ends unpaid never counts for the cooldown of its fan, however often', async () => {
    const as = randomUUID();
    for (let time = 0; time < 4; time += 1) {
      await office.held(match, { as }).then((held) => office.release(held));
      const { id } = await quotas.claimed(invited, { as });
      await office.rows(
        `update reservations set created_at = created_at - interval '10 minutes', expires_at = now() where id = $1`,
        [id],
      );
      await office.lapse({ id });
      await sweep();
    }
    expect((await office.hold(match, { as })).status).toBe(201);
  });

  test('repeated by the same fan gives the same reservation, in checkout and when it is paid; by another fan it is taken', async () => {
    const held = await quotas.claimed(invited);
    const again = async () => [await quotas.claim(invited, { as: held.userId }), (await quotas.claim(invited)).kind];
    const same = (status: string) => [
      { kind: 'held', isNew: false, reservation: expect.objectContaining({ id: held.id, status }) },
      'taken',
    ];
    expect(await again()).toEqual(same('held'));
    const ordered = await office.ordered(held);
    expect(await again()).toEqual(same('ordered'));
    await office.settle(office.report(ordered));
    expect(await again()).toEqual(same('completed'));
  });

  test('of twenty at once by five fans, one fan gets one reservation', async () => {
    const fans = Array.from({ length: 5 }, () => randomUUID());
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => quotas.claim(invited, { as: fans[index % 5] })));
    const ids = results.flatMap((result) => (result.kind === 'held' ? result.reservation.id : []));
    expect([ids.length, new Set(ids).size]).toEqual([4, 1]);
    expect(results.filter((result) => result.kind === 'held' && result.isNew)).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'taken')).toHaveLength(16);
  });

  test('ends at the given end if that is before the ordinary end of a hold, and is over after it', async () => {
    const until = new Date(Date.now() + 30_000);
    expect((await quotas.claimed(invited, { until })).expires_at).toBe(until.toISOString());
    const other = await quotas.invite(match, quotaId, seats.slice(3, 4));
    expect(await quotas.claim(other, { until: new Date(Date.now() - 1) })).toEqual({ kind: 'over' });
    expect(await quotas.place(seats[3])).toBe('blocked of a quota bound');
  });

  test('is refused to a blacklisted fan, and in a closed sale; it works in every other sale', async () => {
    const userId = randomUUID();
    await office.rows(
      `insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) values ($1, $1, 'touting', $1, now())`,
      [userId],
    );
    await expect(quotas.claim(invited, { as: userId })).rejects.toMatchObject({ code: 'BLACKLISTED' });
    await setSale('closed');
    await expect(quotas.claim(invited)).rejects.toMatchObject({ code: 'SALE_NOT_OPEN', data: { sale_status: 'closed' } });
    for (const [index, status] of ['scheduled', 'open', 'paused', 'sold_out'].entries()) {
      await setSale(status);
      const one = await quotas.invite(match, quotaId, seats.slice(3 + index, 4 + index));
      const ordered = await office.ordered(await quotas.claimed(one));
      expect([status, await office.settle(office.report(ordered))]).toEqual([status, 'completed']);
    }
  });

  test('is over when the places are not bound to the invitation any more', async () => {
    expect(await quotas.unbind(invited)).toHaveLength(3);
    expect(await quotas.claim(invited)).toEqual({ kind: 'over' });
    expect(await quotas.counts(match, quotaId)).toEqual([10, 10, 0, 0, 0]);
  });
});

describe('a hold of an invitation', () => {
  const end = {
    released: (held: HeldSeats) => office.release(held),
    expired: async (held: HeldSeats) => {
      await office.lapse(held);
      await sweep();
    },
    'expired and not swept': (held: HeldSeats) => office.lapse(held),
  };

  test.each(Object.entries(end))('that is %s leaves its places bound, and another fan can claim them', async (name, ending) => {
    const held = await quotas.claimed(invited);
    await ending(held);
    expect(await quotas.counts(match, quotaId)).toEqual([10, 7, 3, 0, 0]);
    expect(await office.reservation(held)).toBe(name.startsWith('expired') ? 'expired' : 'released');
    expect((await quotas.claim(invited)).kind).toBe('held');
    await sweep();
    expect(await quotas.counts(match, quotaId)).toEqual([10, 7, 0, 3, 0]);
  });

  test('whose payment is refused by the fan’s blacklisting leaves its places bound', async () => {
    const ordered = await office.ordered(await quotas.claimed(invited));
    await office.rows(
      `insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) values ($1, $1, 'touting', $1, now())`,
      [ordered.held.userId],
    );
    expect(await office.settle(office.report(ordered))).toBe('refunded');
    expect(await placesOf()).toEqual(Array(3).fill('blocked of a quota bound'));
  });

  test('unbound while it lives stays held and payable; its places are free in the quota when it ends', async () => {
    const [held, other] = [await quotas.claimed(invited), await quotas.invite(match, quotaId, seats.slice(3, 5))];
    const paid = await quotas.claimed(other);
    expect([await quotas.unbind(invited), await quotas.unbind(other)]).toEqual([[], []]);
    expect(await office.settle(office.report(await office.ordered(paid)))).toBe('completed');
    await office.rows(`update invitations set status = 'claimed' where id = $1`, [other.id]);
    await office.release(held);
    expect(await quotas.counts(match, quotaId)).toEqual([10, 8, 0, 0, 2]);
  });

  test('withdrawn: a checkout is RESERVATION_EXPIRED, an order that awaits payment ends with its intent, a payment is refunded', async () => {
    const held = await quotas.claimed(invited);
    expect([await quotas.endHold(held.id), await quotas.endHold(held.id)]).toEqual(['ended', 'over']);
    expect((await office.checkOut(held)).json.code).toBe('RESERVATION_EXPIRED');
    const ordered = await office.ordered(await quotas.claimed(invited));
    expect(await quotas.endHold(ordered.held.id)).toBe('ended');
    expect(await quotas.unbind(invited)).toHaveLength(3);
    expect(await office.order(ordered)).toMatchObject({ status: 'expired' });
    const [message] = (await office.outbox(ordered.orderId)).filter(({ destination }) => destination === 'payments');
    expect(message?.body).toEqual({ kind: 'cancel', intentId: ordered.intentId });
    expect(await office.settle(office.report(ordered))).toBe('refunded');
    expect(await quotas.counts(match, quotaId)).toEqual([10, 10, 0, 0, 0]);
  });

  test('that is paid cannot be withdrawn, until its tickets are refunded', async () => {
    const ordered = await bought();
    expect(await quotas.endHold(ordered.held.id)).toBe('paid');
    expect(await placesOf()).toEqual(Array(3).fill('sold of a quota bound'));
    await office.monolith.call('POST', `/api/v1/ops/orders/${ordered.orderId}/refund`, { ...ops, body: {} });
    expect(await quotas.endHold(ordered.held.id)).toBe('over');
  });
});

test('the state of a claim is held until its hold ends, and paid for ever after its payment, also after a refund', async () => {
  const stateOf = async ({ id }: { id: string }) => [
    (await quotas.places.claimStates([id])).get(id),
    await quotas.inTransaction(async (tx) => (await quotas.places.claimStates([id], tx)).get(id)),
  ];
  const held = await quotas.claimed(invited);
  expect(await stateOf(held)).toEqual(['held', 'held']);
  await office.lapse(held);
  expect(await stateOf(held)).toEqual(['over', 'over']);
  await sweep();
  expect(await stateOf(held)).toEqual(['over', 'over']);
  const ordered = await office.ordered(await quotas.claimed(invited));
  expect(await stateOf(ordered.held)).toEqual(['held', 'held']);
  await office.settle(office.report(ordered));
  expect(await stateOf(ordered.held)).toEqual(['paid', 'paid']);
  await office.monolith.call('POST', `/api/v1/ops/orders/${ordered.orderId}/refund`, { ...ops, body: {} });
  expect(await stateOf(ordered.held)).toEqual(['paid', 'paid']);
  expect([...(await quotas.places.claimStates([randomUUID()]))]).toEqual([]);
});

test('labels of places have their row and number', async () => {
  const labels = await quotas.places.labelsOf([seats[0] ?? '', seats[11] ?? '', randomUUID()]);
  expect([...labels.values()].toSorted((a, b) => Number(a.row) - Number(b.row))).toEqual([
    { seatId: seats[0], row: '1', number: 1 },
    { seatId: seats[11], row: '2', number: 2 },
  ]);
});

describe('checkout and payment', () => {
  test('the batch of payments completes holds of invitations, and a fan’s busy row does not matter for them', async () => {
    const userId = randomUUID();
    const held = [await office.held(match, { as: userId }), await quotas.claimed(invited, { as: userId })];
    const reservations = office.monolith.get(Reservations);
    const stored = await Promise.all(held.map(async ({ id }) => (await reservations.find(id))!));
    const other = office.monolith.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query(`select from fan_seats where user_id = $1 for update`, [userId]);
    const completed = await quotas
      .inTransaction(async (tx) => {
        const ids = await reservations.complete(tx, stored);
        throw Object.assign(new Error('rolled back'), { ids });
      })
      .catch(({ ids }: { ids: unknown }) => ids);
    await other.rollbackTransaction();
    await other.release();
    expect(completed).toEqual(new Set([held[1]?.id]));
  });

  test('seven orders of invitations and one of the public paid at once are completed, and those of invitations count for nobody', async () => {
    const holds = await Promise.all(
      seats.slice(3, 10).map(async (seatId) => quotas.claimed(await quotas.invite(match, quotaId, [seatId]))),
    );
    const publicHold = await office.held(match);
    const ordered = await Promise.all([...holds, publicHold].map((held) => office.ordered(held)));
    const results = await Promise.all(ordered.map((order) => office.settle(office.report(order))));
    expect(results).toEqual(ordered.map(() => 'completed'));
    expect((await office.order(ordered[0]!)).tickets).toHaveLength(1);
    expect([await quotas.counts(match, quotaId), await fanRows(publicHold.userId)]).toEqual([[10, 0, 3, 0, 7], [{}]]);
  });

  test('the checkout is SALE_NOT_OPEN in a closed sale, also repeated; an order that was made before is still paid', async () => {
    const [held, other] = [await quotas.claimed(invited), await quotas.invite(match, quotaId, seats.slice(3, 5))];
    const ordered = await office.ordered(await quotas.claimed(other));
    await setSale('closed');
    const [first, again] = [await office.checkOut(held), await office.checkOut(ordered.held)];
    expect([first.status, first.json.code, first.json.sale_status, again.json.code]).toEqual([
      409,
      'SALE_NOT_OPEN',
      'closed',
      'SALE_NOT_OPEN',
    ]);
    expect(await office.settle(office.report(ordered))).toBe('completed');
  });

  test('places of 0 cents are bought in their checkout, also in a sale that is closed for the public', async () => {
    await setSale('sold_out');
    const held = await quotas.claimed(invited, { priceCents: 0 });
    const [first, again] = [await office.checkOut(held), await office.checkOut(held)];
    expect([first.status, first.json.status, first.json.payment]).toEqual([201, 'completed', null]);
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect([await placesOf(), await fanRows(held.userId)]).toEqual([Array(3).fill('sold of a quota bound'), []]);
    await setSale('closed');
    const late = await quotas.invite(match, quotaId, seats.slice(3, 4)).catch(() => undefined);
    await setSale('open');
    const free = await quotas.claimed(late!, { priceCents: 0 });
    await setSale('closed');
    expect((await office.checkOut(free)).json.code).toBe('SALE_NOT_OPEN');
  });

  test('a payment after the hold ended completes the order if nobody has the places and they are bound as before', async () => {
    const ordered = await office.ordered(await quotas.claimed(invited));
    await office.lapse(ordered.held);
    await sweep();
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect([await placesOf(), await fanRows(ordered.held.userId)]).toEqual([Array(3).fill('sold of a quota bound'), []]);
  });

  test.each([
    ['another fan has claimed them', () => quotas.claim(invited)],
    ['the invitation has ended', () => quotas.unbind(invited)],
    [
      'they are bound to another invitation',
      async () => {
        await quotas.unbind(invited);
        await quotas.invite(match, quotaId, invited.seatIds);
      },
    ],
    [
      'they are for sale to the public again',
      async () => {
        await quotas.unbind(invited);
        await quotas.move({ matchId: match.id, from: quotaId, to: null, seatIds: invited.seatIds });
      },
    ],
    ['the sale is closed', () => setSale('closed')],
  ])('a payment after the hold ended is refunded if %s', async (_, change) => {
    const ordered = await office.ordered(await quotas.claimed(invited));
    await office.lapse(ordered.held);
    await change();
    const before = await placesOf();
    expect(await office.settle(office.report(ordered))).toBe('refunded');
    await sweep();
    expect((await placesOf()).map((place) => place.replace('held', 'blocked'))).toEqual(
      before.map((place) => place.replace('held', 'blocked')),
    );
  });

  test('refunded tickets are free places of their quota, and the fan can buy from the public up to the limit', async () => {
    const ordered = await bought();
    const url = `/api/v1/ops/orders/${ordered.orderId}/refund`;
    const { tickets } = await office.order(ordered);
    const one = await office.monolith.call('POST', url, { ...ops, body: { ticket_ids: [tickets[0].id] } });
    expect([one.status, await quotas.counts(match, quotaId)]).toEqual([200, [10, 8, 0, 0, 2]]);
    expect((await office.monolith.call('POST', url, { ...ops, body: {} })).status).toBe(200);
    expect([await quotas.counts(match, quotaId), await quotas.counts(match, null)]).toEqual([
      [10, 10, 0, 0, 0],
      [10, 10, 0, 0, 0],
    ]);
    expect(await placesOf()).toEqual(Array(3).fill('blocked of a quota'));
    expect((await office.hold(match, { as: ordered.held.userId, quantity: 2 })).status).toBe(201);
  });

  test('a transferred ticket of a quota counts for nobody, and can be refunded afterwards', async () => {
    const ordered = await bought();
    const [ticket] = (await office.order(ordered)).tickets;
    const to = randomUUID();
    await office.held(match, { as: to, quantity: 2 });
    await giveTicket(office.monolith, { ticketId: ticket.id, from: ordered.held.userId, to });
    expect(await fanRows(ordered.held.userId)).toEqual([]);
    const refund = await office.monolith.call('POST', `/api/v1/ops/orders/${ordered.orderId}/refund`, { ...ops, body: {} });
    expect([refund.status, await quotas.counts(match, quotaId)]).toEqual([200, [10, 10, 0, 0, 0]]);
  });
});
