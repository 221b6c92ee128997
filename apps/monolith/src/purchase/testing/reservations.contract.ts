import type { Reservation } from '../application/ports.ts';
import { contractTests, type PurchaseSetup } from './purchase-setup.ts';

/** The tests that every `Reservations` must pass. */
export function reservationsContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  const sectorOfFour = async (p: PurchaseSetup) => p.addSector(await p.addMatch(), 'East', [4]);
  const statusOf = async (p: PurchaseSetup, { id }: Reservation) => (await p.reservations.find(id))?.status;
  const statuses = async (p: PurchaseSetup, { seats }: Reservation): Promise<string[]> => {
    const stored = [];
    for (const { seatId } of seats) stored.push((await p.seat(seatId)).status);
    return stored;
  };
  const ids = (found: ReadonlyMap<string, unknown> | ReadonlySet<string>): string[] => [...found.keys()].sort();
  /** Changes a hold in another transaction, which has not ended yet, and runs `work` meanwhile. */
  const whileLocked = <T>(p: PurchaseSetup, { id }: Reservation, work: () => Promise<T>): Promise<T> =>
    p.inTransaction(async (tx) => {
      await p.reservations.lock(tx, id);
      return work();
    });
  const whileSeatsLocked = <T>(p: PurchaseSetup, hold: Reservation, work: () => Promise<T>): Promise<T> =>
    p.inTransaction(async (tx) => {
      expect(await p.reservations.lockComplete(tx, [hold])).toEqual(new Set([hold.id]));
      return work();
    });

  check('a reservation is found with its seats in the order of the request, the name of its sector and its total', async (p) => {
    const sector = await sectorOfFour(p);
    const hold = await p.addHold({ sector, seats: [2, 0], sessionToken: 'st_a' });
    const { matchId } = sector;
    const expected = { id: hold.id, matchId, sectorId: sector.id, userId: hold.userId, sessionToken: 'st_a', status: 'held' };
    const seat = { sector: 'East', row: '1', priceCents: 2500 };
    const seats = [
      { ...seat, seatId: sector.seatIds[2], number: 3 },
      { ...seat, seatId: sector.seatIds[0], number: 1 },
    ];
    expect(await p.reservations.find(hold.id)).toEqual({
      ...expected,
      ...{ invitationId: null, together: true, seats, totalCents: 5000, currency: 'EUR', expiresAt: hold.expiresAt },
    });
    await p.inTransaction(async (tx) => {
      const locked = await p.reservations.lock(tx, hold.id);
      expect(locked).toEqual(hold);
      expect((await p.reservations.lockSkippingLocked(tx, [hold.id])).get(hold.id)).toEqual(hold);
    });
  });

  check('a reservation that does not exist, or belongs to another fan, is not found', async (p) => {
    const sector = await sectorOfFour(p);
    const [hold, other] = [await p.addHold({ sector, seats: [0] }), await p.addHold({ sector, seats: [1] })];
    expect(await p.reservations.find(sector.id)).toBeUndefined();
    await p.inTransaction(async (tx) => {
      expect(await p.reservations.lock(tx, sector.id)).toBeUndefined();
      expect(await p.reservations.lock(tx, hold.id, other.userId)).toBeUndefined();
      expect((await p.reservations.lock(tx, hold.id, hold.userId))?.id).toBe(hold.id);
    });
  });

  check('a hold is expired for every reader from its expiry on, although nothing has ended it', async (p) => {
    const hold = await p.addHold({ sector: await sectorOfFour(p), seats: [0] });
    await p.expire(hold.id);
    expect(await statusOf(p, hold)).toBe('expired');
    await p.inTransaction(async (tx) => {
      expect((await p.reservations.lock(tx, hold.id))?.status).toBe('expired');
      expect((await p.reservations.lockSkippingLocked(tx, [hold.id])).get(hold.id)?.status).toBe('expired');
    });
  });

  check('a reservation that another transaction has locked is skipped, the others are locked', async (p) => {
    const sector = await sectorOfFour(p);
    const [locked, free] = [await p.addHold({ sector, seats: [0] }), await p.addHold({ sector, seats: [1] })];
    const found = await whileLocked(p, locked, () =>
      p.inTransaction((tx) => p.reservations.lockSkippingLocked(tx, [locked.id, free.id, sector.id])),
    );
    expect(ids(found)).toEqual([free.id]);
    expect(await p.inTransaction((tx) => p.reservations.lockSkippingLocked(tx, []))).toEqual(new Map());
  });

  check('a released hold gives back its held seats, but no seat that has another owner or is sold', async (p) => {
    const sector = await sectorOfFour(p);
    const old = await p.addHold({ sector, seats: [0, 1] });
    await p.expire(old.id);
    const owner = await p.addHold({ sector, seats: [1] });
    await p.inTransaction(async (tx) => {
      await p.reservations.setStatus(tx, old.id, 'released');
      await p.reservations.freeSeats(tx, old.id);
    });
    expect([await statusOf(p, old), await statuses(p, old)]).toEqual(['released', ['available', 'held']]);
    expect(await p.seat(sector.seatIds[0] ?? '')).toEqual({ status: 'available', reservationId: null });
    await p.inTransaction((tx) => p.reservations.complete(tx, [owner]));
    await p.inTransaction((tx) => p.reservations.freeSeats(tx, owner.id));
    expect(await statuses(p, owner)).toEqual(['sold']);
  });

  describe('sellSeats', () => {
    check('sells the seats of a living hold, and those of an ended hold that are free again', async (p) => {
      const sector = await sectorOfFour(p);
      const [living, ended] = [await p.addHold({ sector, seats: [0, 1] }), await p.addHold({ sector, seats: [2, 3] })];
      await p.expire(ended.id);
      await p.reservations.expireDueReservations(10);
      await p.expire((await p.addHold({ sector, seats: [3] })).id);
      for (const hold of [living, ended]) {
        expect(await p.inTransaction((tx) => p.reservations.sellSeats(tx, hold))).toBe(true);
        for (const { seatId } of hold.seats) expect(await p.seat(seatId)).toEqual({ status: 'sold', reservationId: hold.id });
      }
    });

    check('sells nothing if one of the seats has another owner', async (p) => {
      const sector = await sectorOfFour(p);
      const late = await p.addHold({ sector, seats: [0, 1] });
      await p.expire(late.id);
      const owner = await p.addHold({ sector, seats: [1] });
      expect(await p.inTransaction((tx) => p.reservations.sellSeats(tx, late))).toBe(false);
      expect(await statuses(p, late)).toEqual(['held', 'held']);
      expect(await p.seat(sector.seatIds[1] ?? '')).toEqual({ status: 'held', reservationId: owner.id });
      await p.inTransaction((tx) => p.reservations.sellSeats(tx, owner));
      expect(await p.inTransaction((tx) => p.reservations.sellSeats(tx, late))).toBe(false);
    });
  });

  describe('the count of a fan’s seats', () => {
    check('a paid hold stays counted, and the revision grows', async (p) => {
      const hold = await p.addHold({ sector: await sectorOfFour(p), seats: [0] });
      expect(await p.inTransaction((tx) => p.reservations.staysCounted(tx, hold))).toBe(true);
      expect(await p.fan(hold)).toEqual({ revision: 2, reservationIds: [hold.id] });
    });

    check('a hold that the fan’s row no longer lists is not counted, and the revision stays', async (p) => {
      const sector = await sectorOfFour(p);
      const old = await p.addHold({ sector, seats: [0] });
      const newer = await p.addHold({ sector, seats: [1], userId: old.userId });
      for (const { id } of [old, newer]) await p.expire(id);
      await p.inTransaction((tx) => p.reservations.countAgain(tx, newer, 4));
      expect(await p.inTransaction((tx) => p.reservations.staysCounted(tx, old))).toBe(false);
      expect(await p.fan(old)).toEqual({ revision: 3, reservationIds: [newer.id] });
    });

    check('an ended hold is counted again within the limit; expired holds do not count and leave the list', async (p) => {
      const sector = await sectorOfFour(p);
      const late = await p.addHold({ sector, seats: [0, 1] });
      const { userId } = late;
      const gone = await p.addHold({ sector, seats: [2], userId });
      for (const { id } of [late, gone]) await p.expire(id);
      const living = await p.addHold({ sector, seats: [3], userId });
      expect(await p.inTransaction((tx) => p.reservations.countAgain(tx, late, 2))).toBe(false);
      expect(await p.fan(late)).toEqual({ revision: 3, reservationIds: [late.id, gone.id, living.id] });
      expect(await p.inTransaction((tx) => p.reservations.countAgain(tx, late, 3))).toBe(true);
      expect(await p.fan(late)).toEqual({ revision: 4, reservationIds: [living.id, late.id] });
    });

    check('completed reservations count for ever, released ones never', async (p) => {
      const sector = await sectorOfFour(p);
      const late = await p.addHold({ sector, seats: [0] });
      const { userId } = late;
      const [sold, released] = [await p.addHold({ sector, seats: [1], userId }), await p.addHold({ sector, seats: [2], userId })];
      await p.inTransaction(async (tx) => {
        await p.reservations.complete(tx, [sold]);
        await p.reservations.setStatus(tx, released.id, 'released');
      });
      for (const { id } of [late, sold, released]) await p.expire(id);
      expect(await p.inTransaction((tx) => p.reservations.countAgain(tx, late, 1))).toBe(false);
      expect(await p.inTransaction((tx) => p.reservations.countAgain(tx, late, 2))).toBe(true);
      expect((await p.fan(late))?.reservationIds).toEqual([sold.id, late.id]);
    });
  });

  describe('completing a batch of holds', () => {
    check('all seats of each hold are sold, and the revision of each fan grows once', async (p) => {
      const sector = await sectorOfFour(p);
      const first = await p.addHold({ sector, seats: [0, 1] });
      const second = await p.addHold({ sector, seats: [2], userId: first.userId });
      const completed = await p.inTransaction(async (tx) => {
        expect(ids(await p.reservations.lockComplete(tx, [first, second]))).toEqual([first.id, second.id].sort());
        return p.reservations.complete(tx, [first, second]);
      });
      expect(ids(completed)).toEqual([first.id, second.id].sort());
      for (const hold of [first, second]) {
        expect(await statusOf(p, hold)).toBe('completed');
        for (const { seatId } of hold.seats) expect(await p.seat(seatId)).toEqual({ status: 'sold', reservationId: hold.id });
      }
      expect(await p.fan(first)).toEqual({ revision: 3, reservationIds: [first.id, second.id] });
      expect(await p.inTransaction((tx) => p.reservations.lockComplete(tx, []))).toEqual(new Set());
    });

    check('a hold with a seat that another transaction has locked stays as it was, without waiting', async (p) => {
      const sector = await sectorOfFour(p);
      const [locked, free] = [await p.addHold({ sector, seats: [0, 1] }), await p.addHold({ sector, seats: [2] })];
      const completed = await whileSeatsLocked(p, locked, () =>
        p.inTransaction(async (tx) => {
          expect(ids(await p.reservations.lockComplete(tx, [locked, free]))).toEqual([free.id]);
          return p.reservations.complete(tx, [locked, free]);
        }),
      );
      expect([ids(completed), await statusOf(p, locked), await statuses(p, locked)]).toEqual([
        [free.id],
        'held',
        ['held', 'held'],
      ]);
      expect((await p.fan(locked))?.revision).toBe(1);
    });

    check('a hold whose fan’s row another transaction has locked stays as it was', async (p) => {
      const sector = await sectorOfFour(p);
      const paid = await p.addHold({ sector, seats: [0] });
      const hold = await p.addHold({ sector, seats: [1], userId: paid.userId });
      const completed = await p.inTransaction(async (tx) => {
        await p.reservations.staysCounted(tx, paid);
        return p.inTransaction((other) => p.reservations.complete(other, [hold]));
      });
      expect([ids(completed), await statuses(p, hold)]).toEqual([[], ['held']]);
    });

    check('a hold that its fan’s row no longer lists, or one of whose seats has another owner, is not completed', async (p) => {
      const sector = await sectorOfFour(p);
      const [unlisted, lost] = [await p.addHold({ sector, seats: [0] }), await p.addHold({ sector, seats: [1, 2] })];
      const again = await p.addHold({ sector, seats: [3], userId: unlisted.userId });
      await p.expire(unlisted.id);
      await p.expire(again.id);
      expect(await p.inTransaction((tx) => p.reservations.countAgain(tx, again, 4))).toBe(true);
      await p.expire(lost.id);
      await p.addHold({ sector, seats: [2] });
      expect(await p.inTransaction((tx) => p.reservations.complete(tx, [unlisted, lost]))).toEqual(new Set());
      expect([await statuses(p, unlisted), await statuses(p, lost)]).toEqual([['held'], ['held', 'held']]);
    });

    check('a hold that is named twice is not completed', async (p) => {
      const hold = await p.addHold({ sector: await sectorOfFour(p), seats: [0] });
      expect(await p.inTransaction((tx) => p.reservations.complete(tx, [hold, hold]))).toEqual(new Set());
    });
  });

  check('the unpaid holds of a turn are the living ones without an order, sorted by id', async (p) => {
    const sector = await p.addSector(await p.addMatch(), 'East', [6]);
    const holdIn = (sessionToken: string, seat: number) => p.addHold({ sector, seats: [seat], sessionToken });
    const first = await holdIn('st_a', 0);
    const second = await holdIn('st_b', 1);
    const [ordered, expired] = [await holdIn('st_a', 2), await holdIn('st_a', 3)];
    await holdIn('st_c', 4);
    await p.addHold({ sector, seats: [5] });
    await p.expire(expired.id);
    const unpaid = await p.inTransaction(async (tx) => {
      await p.reservations.setStatus(tx, ordered.id, 'ordered');
      return p.reservations.unpaidInWindows(tx, ['st_a', 'st_b']);
    });
    expect(unpaid).toEqual([first.id, second.id].sort());
  });
}
