import { randomUUID } from 'node:crypto';
import { PlacesNotFree, type Claim, type ClaimResult } from '../quota-places.api.ts';
import { newOrder } from './new-order.ts';
import { contractTests, type PurchaseSetup, type TestSector } from './purchase-setup.ts';

/** Four places of a quota and two of the public, in one row. */
interface Places {
  readonly sector: TestSector;
  readonly matchId: string;
  readonly quotaId: string;
  readonly own: readonly string[];
}

/** The tests that every `QuotaPlacesApi` must pass, with what its claims need of the reservations. */
export function quotaPlacesContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  const prepared = async (p: PurchaseSetup): Promise<Places> => {
    const matchId = await p.addMatch();
    const sector = await p.addSector(matchId, 'East', [6]);
    const [quotaId, own] = [await p.addQuota(matchId), sector.seatIds.slice(0, 4)];
    await p.inTransaction((tx) => p.places.move(tx, { matchId, from: null, to: quotaId, seatIds: own }));
    return { sector, matchId, quotaId, own };
  };
  const free = async (p: PurchaseSetup, matchId: string, quotaId: string | null): Promise<string[]> =>
    (await p.places.free({ matchId, quotaId })).map(({ seatId }) => seatId);
  const states = async (p: PurchaseSetup, seatIds: readonly string[]): Promise<string[]> => {
    const stored: string[] = [];
    for (const seatId of seatIds) {
      const [{ status }, { quotaId, boundTo }] = [await p.seat(seatId), await p.place(seatId)];
      stored.push([status, quotaId ? 'quota' : 'public', ...(boundTo ? ['bound'] : [])].join(' '));
    }
    return stored;
  };
  /** Binds the first two places of the quota to an invitation, and returns its id. */
  const invited = async (p: PurchaseSetup, { quotaId, own }: Places): Promise<string> => {
    const boundTo = randomUUID();
    await p.inTransaction((tx) => p.places.bind(tx, quotaId, [{ boundTo, seatIds: own.slice(0, 2) }]));
    return boundTo;
  };
  const claim = (
    p: PurchaseSetup,
    { matchId, sector, own }: Places,
    { invitationId, ...given }: Pick<Claim, 'invitationId'> & Partial<Claim>,
  ): Promise<ClaimResult> => {
    const places = { matchId, sectorId: sector.id, seatIds: own.slice(0, 2), priceCents: 1000 };
    const until = new Date(Date.UTC(2100, 0, 1));
    return p.inTransaction((tx) => p.places.hold(tx, { ...places, invitationId, userId: randomUUID(), until, ...given }));
  };
  const held = async (p: PurchaseSetup, places: Places, invitationId: string) => {
    const result = await claim(p, places, { invitationId });
    if (result.kind !== 'held') throw new Error(`not held: ${result.kind}`);
    const reservation = await p.reservations.find(result.reservation.id);
    if (!reservation) throw new Error('a claim was not stored');
    return reservation;
  };
  const stateOf = async (p: PurchaseSetup, id: string) => (await p.places.claimStates([id])).get(id);
  const unbind = (p: PurchaseSetup, boundTo: string, seatIds: readonly string[]) =>
    p.inTransaction((tx) => p.places.unbind(tx, [{ boundTo, seatIds }]));

  check('moved places are free for their new owner only, and blocked while they are in a quota', async (p) => {
    const { sector, matchId, quotaId, own } = await prepared(p);
    expect([await free(p, matchId, quotaId), await free(p, matchId, null)]).toEqual([own, sector.seatIds.slice(4)]);
    expect(await states(p, sector.seatIds.slice(3, 5))).toEqual(['blocked quota', 'available public']);
    const moved = await p.inTransaction((tx) =>
      p.places.move(tx, { matchId, from: quotaId, to: null, seatIds: own.slice(0, 1) }),
    );
    expect(moved).toEqual({ matchId, sectorIds: [sector.id] });
    expect([(await free(p, matchId, quotaId)).length, (await free(p, matchId, null)).length]).toEqual([3, 3]);
    const labels = await p.places.labelsOf(own.slice(0, 1));
    expect(labels.get(own[0] ?? '')).toEqual({ seatId: own[0], row: '1', number: 1 });
    expect(await p.places.sectorsOf(matchId, own.slice(0, 1))).toEqual(new Map([[own[0], sector.id]]));
    expect(await p.places.sectorsOf(await p.addMatch(), own)).toEqual(new Map());
  });

  check('a move or a binding of a place that is not free takes nothing', async (p) => {
    const places = await prepared(p);
    const { sector, matchId, quotaId, own } = places;
    await p.addHold({ sector, seats: [4] });
    await invited(p, places);
    const move = (from: string | null, to: string | null, seatIds: readonly string[]) =>
      p.inTransaction((tx) => p.places.move(tx, { matchId, from, to, seatIds }));
    await expect(move(null, quotaId, sector.seatIds.slice(4))).rejects.toThrow(new PlacesNotFree(1, 2));
    await expect(move(quotaId, null, own.slice(1, 3))).rejects.toThrow(new PlacesNotFree(1, 2));
    await expect(move(await p.addQuota(matchId), null, own.slice(2))).rejects.toThrow(new PlacesNotFree(0, 2));
    const again = [{ boundTo: randomUUID(), seatIds: own.slice(1, 3) }];
    await expect(p.inTransaction((tx) => p.places.bind(tx, quotaId, again))).rejects.toThrow(new PlacesNotFree(1, 2));
    expect(await states(p, own)).toEqual(['blocked quota bound', 'blocked quota bound', 'blocked quota', 'blocked quota']);
  });

  check('bound places move only with what they are bound to, and are free when they are unbound', async (p) => {
    const places = await prepared(p);
    const { matchId, quotaId, own } = places;
    const first = await invited(p, places);
    expect(await free(p, matchId, quotaId)).toEqual(own.slice(2));
    expect(await unbind(p, randomUUID(), own)).toEqual([]);
    expect((await unbind(p, first, own)).toSorted()).toEqual(own.slice(0, 2).toSorted());
    const second = await invited(p, places);
    const seatIds = own.slice(0, 2);
    await p.inTransaction((tx) => p.places.move(tx, { matchId, from: quotaId, to: null, seatIds, boundTo: second }));
    expect(await states(p, seatIds)).toEqual(['available public', 'available public']);
  });

  check('counts: total = free + invited + held + sold, also for an expired hold', async (p) => {
    const places = await prepared(p);
    const { sector, matchId, quotaId } = places;
    const invitationId = await invited(p, places);
    const counts = async () =>
      (await p.places.counts({ quotaIds: [quotaId] })).map(({ total, free: n, invited: i, held: h, sold }) => [
        total,
        n,
        i,
        h,
        sold,
      ]);
    expect(await counts()).toEqual([[4, 2, 2, 0, 0]]);
    const reservation = await held(p, places, invitationId);
    expect(await counts()).toEqual([[4, 2, 0, 2, 0]]);
    await p.expire(reservation.id);
    expect(await counts()).toEqual([[4, 2, 2, 0, 0]]);
    const ofMatch = await p.places.counts({ matchId });
    expect(ofMatch.find((count) => count.quotaId === null)).toMatchObject({ sectorId: sector.id, total: 2, free: 2 });
  });

  check('a claim is a reservation that counts for nobody; its fan gets it again, and another fan is refused', async (p) => {
    const places = await prepared(p);
    const invitationId = await invited(p, places);
    const reservation = await held(p, places, invitationId);
    const { id, userId } = reservation;
    const seats = places.own
      .slice(0, 2)
      .map((seatId, index) => ({ seatId, sector: 'East', row: '1', number: index + 1, priceCents: 1000 }));
    expect(reservation).toMatchObject({
      status: 'held',
      invitationId,
      sessionToken: null,
      together: true,
      seats,
      totalCents: 2000,
    });
    expect([await p.fan(reservation), await stateOf(p, id)]).toEqual([undefined, 'held']);
    const again = await claim(p, places, { invitationId, userId });
    expect(again).toMatchObject({ kind: 'held', isNew: false, reservation: { id } });
    expect(await claim(p, places, { invitationId })).toEqual({ kind: 'taken' });
    expect(await claim(p, places, { invitationId: randomUUID() })).toEqual({ kind: 'over' });
  });

  check('a claim after its time, and one of places that are not bound any more, hold nothing', async (p) => {
    const places = await prepared(p);
    const invitationId = await invited(p, places);
    expect(await claim(p, places, { invitationId, until: new Date(0) })).toEqual({ kind: 'over' });
    await unbind(p, invitationId, places.own);
    expect(await claim(p, places, { invitationId })).toEqual({ kind: 'over' });
    expect(await states(p, places.own.slice(0, 2))).toEqual(['blocked quota', 'blocked quota']);
  });

  check('a blacklisted fan and a closed sale are refused', async (p) => {
    const places = await prepared(p);
    const [invitationId, userId] = [await invited(p, places), randomUUID()];
    await p.blacklist(userId);
    await expect(claim(p, places, { invitationId, userId })).rejects.toMatchObject({ code: 'BLACKLISTED' });
    const closed = await p.addMatch({ saleStatus: 'closed' });
    await expect(claim(p, { ...places, matchId: closed }, { invitationId })).rejects.toMatchObject({ code: 'SALE_NOT_OPEN' });
  });

  check('the places of a claim whose hold ends are invited again, also when the expiry sweeper has ended it', async (p) => {
    const places = await prepared(p);
    const invitationId = await invited(p, places);
    const { id } = await held(p, places, invitationId);
    await p.expire(id);
    expect([await stateOf(p, id), (await claim(p, places, { invitationId })).kind]).toEqual(['over', 'held']);
    const third = await p.reservations.find(id);
    expect(third?.status).toBe('expired');
    const { id: second } = (await p.reservations.find((await p.seat(places.own[0] ?? '')).reservationId ?? '')) ?? { id: '' };
    await p.expire(second);
    await p.reservations.expireDueReservations(10);
    expect(await states(p, places.own.slice(0, 2))).toEqual(['blocked quota bound', 'blocked quota bound']);
  });

  check('endHold frees the places in their quota; without a hold and after a payment it changes nothing', async (p) => {
    const places = await prepared(p);
    const invitationId = await invited(p, places);
    const reservation = await held(p, places, invitationId);
    const end = () => p.inTransaction((tx) => p.places.endHold(tx, reservation.id));
    expect([await end(), await end()]).toEqual(['ended', 'over']);
    expect([(await p.reservations.find(reservation.id))?.status, await stateOf(p, reservation.id)]).toEqual(['expired', 'over']);
    expect(await states(p, places.own.slice(0, 1))).toEqual(['blocked quota bound']);
    const paid = await held(p, places, invitationId);
    await p.inTransaction(async (tx) => {
      expect(await p.reservations.staysCounted(tx, paid)).toBe(true);
      expect(await p.reservations.sellSeats(tx, paid)).toBe(true);
      await p.reservations.setStatus(tx, paid.id, 'completed');
    });
    expect(await p.inTransaction((tx) => p.places.endHold(tx, paid.id))).toBe('paid');
    expect([await stateOf(p, paid.id), await stateOf(p, reservation.id)]).toEqual(['paid', 'paid']);
    expect(await unbind(p, invitationId, places.own)).toEqual([]);
    expect(await states(p, places.own.slice(0, 1))).toEqual(['sold quota bound']);
  });

  check('an order of a claim is cancelled by endHold', async (p) => {
    const places = await prepared(p);
    const reservation = await held(p, places, await invited(p, places));
    const order = newOrder(reservation);
    await p.inTransaction((tx) => p.orders.place(tx, [order]));
    expect(await p.inTransaction((tx) => p.places.endHold(tx, reservation.id))).toBe('ended');
    expect((await p.inTransaction((tx) => p.orders.lock(tx, order.id)))?.status).toBe('expired');
  });

  check('held places stay held when they are unbound, and are free in their quota when the hold ends', async (p) => {
    const places = await prepared(p);
    const invitationId = await invited(p, places);
    const { id } = await held(p, places, invitationId);
    expect(await unbind(p, invitationId, places.own)).toEqual([]);
    expect(await states(p, places.own.slice(0, 1))).toEqual(['held quota']);
    await p.expire(id);
    expect((await free(p, places.matchId, places.quotaId)).length).toBe(4);
  });

  check('a payment after the end of a claim gets its places only while they are bound to the invitation', async (p) => {
    const places = await prepared(p);
    const invitationId = await invited(p, places);
    const late = await held(p, places, invitationId);
    await p.expire(late.id);
    const sell = () => p.inTransaction((tx) => p.reservations.sellSeats(tx, late));
    const count = () => p.inTransaction((tx) => p.reservations.countAgain(tx, late, 0));
    expect(await count()).toBe(true);
    await unbind(p, invitationId, places.own);
    expect(await sell()).toBe(false);
    const seatIds = places.own.slice(0, 2);
    await p.inTransaction((tx) => p.places.bind(tx, places.quotaId, [{ boundTo: invitationId, seatIds }]));
    expect(await sell()).toBe(true);
  });

  check('a batch of payments completes the holds of claims, which are in no fan’s row', async (p) => {
    const places = await prepared(p);
    const reservation = await held(p, places, await invited(p, places));
    expect(await p.inTransaction((tx) => p.reservations.complete(tx, [reservation]))).toEqual(new Set([reservation.id]));
    expect((await p.reservations.find(reservation.id))?.status).toBe('completed');
    expect(await states(p, places.own.slice(0, 1))).toEqual(['sold quota bound']);
  });
}
