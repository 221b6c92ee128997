import { randomUUID } from 'node:crypto';
import type { Reservation } from '../application/ports.ts';
import type { HoldOutcome, HoldRequest } from '../hold/application/ports.ts';
import { contractTests, type PurchaseSetup, type TestSector } from './purchase-setup.ts';

/** The tests that every `SeatHolds` must pass. hold-queue.db.test.ts tests what only the real one does: batches and retries. */
export function seatHoldsContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  const newSector = async (p: PurchaseSetup, rows = [4]) => p.addSector(await p.addMatch(), 'East', rows);
  const request = (sector: TestSector, wanted: number | readonly number[], change: Partial<HoldRequest> = {}): HoldRequest => ({
    ...{ matchId: sector.matchId, userId: randomUUID(), sessionToken: undefined, sector },
    ...(typeof wanted === 'number' ? { quantity: wanted } : { seatIds: wanted.map((index) => sector.seatIds[index] ?? '') }),
    ...change,
  });
  const hold = (p: PurchaseSetup, ...args: Parameters<typeof request>) => p.seatHolds.hold(request(...args));
  const held = async (outcome: Promise<HoldOutcome>): Promise<Reservation> => {
    const result = await outcome;
    if (result.kind !== 'held') throw new Error(`the seats were not held: ${JSON.stringify(result)}`);
    return result.reservation;
  };
  const seatIdsOf = ({ seats }: Reservation) => seats.map(({ seatId }) => seatId);
  const statuses = async (p: PurchaseSetup, sector: TestSector): Promise<string> =>
    (await p.sectors.seats(sector.id)).map(({ status }) => status).join(' ');
  const refusal = (code: string, data = {}) => expect.objectContaining({ code, data: expect.objectContaining(data) });

  check('a hold takes the asked number of seats side by side; its answer is what is stored', async (p) => {
    const sector = await newSector(p);
    const reservation = await held(hold(p, sector, 2));
    expect(reservation).toMatchObject({ status: 'held', together: true, totalCents: 5000 });
    expect(await p.reservations.find(reservation.id)).toEqual(reservation);
    const indices = seatIdsOf(reservation).map((id) => sector.seatIds.indexOf(id));
    expect(Math.abs((indices[0] ?? 0) - (indices[1] ?? 0))).toBe(1);
    for (const seatId of seatIdsOf(reservation))
      expect(await p.seat(seatId)).toEqual({ status: 'held', reservationId: reservation.id });
    expect(await p.fan(reservation)).toEqual({ revision: 1, reservationIds: [reservation.id] });
  });

  check('chosen seats are held exactly, in the order of the request', async (p) => {
    const sector = await newSector(p, [4, 4]);
    const [neighbours, apart] = [await held(hold(p, sector, [2, 1])), await held(hold(p, sector, [0, 4]))];
    expect([seatIdsOf(neighbours), seatIdsOf(apart)]).toEqual([
      [sector.seatIds[2], sector.seatIds[1]],
      [sector.seatIds[0], sector.seatIds[4]],
    ]);
    expect([neighbours.together, apart.together]).toEqual([true, false]);
    expect(await p.reservations.find(apart.id)).toEqual(apart);
  });

  describe('all or nothing', () => {
    check('if one chosen seat has an owner, none is held, and this seat is named', async (p) => {
      const sector = await newSector(p);
      await p.addHold({ sector, seats: [1] });
      const userId = randomUUID();
      expect(await hold(p, sector, [0, 1], { userId })).toEqual({ kind: 'lost', taken: [sector.seatIds[1]], busy: [] });
      expect(await statuses(p, sector)).toBe('available held available available');
      expect(await p.fan({ ...sector, userId })).toBeUndefined();
    });

    check('if a sector has too few seats, none is held', async (p) => {
      const sector = await newSector(p, [3]);
      await p.addHold({ sector, seats: [0, 1] });
      expect(await hold(p, sector, 2)).toEqual({ kind: 'none' });
      expect(await statuses(p, sector)).toBe('held held available');
      await held(hold(p, sector, 1));
      expect(await hold(p, sector, 1)).toEqual({ kind: 'none' });
    });

    check('two fans who ask for the last seat at the same time: one gets it', async (p) => {
      const sector = await newSector(p, [1]);
      const outcomes = await Promise.all([hold(p, sector, 1), hold(p, sector, [0])]);
      expect(outcomes.filter(({ kind }) => kind === 'held')).toHaveLength(1);
    });
  });

  check('the seats of an expired hold are free, for the best seats and for chosen ones', async (p) => {
    const sector = await newSector(p, [2]);
    for (const seat of [0, 1]) await p.expire((await p.addHold({ sector, seats: [seat] })).id);
    const owners = [await held(hold(p, sector, [0])), await held(hold(p, sector, 1))];
    for (const { id, seats } of owners)
      expect(await p.seat(seats[0]?.seatId ?? '')).toEqual({ status: 'held', reservationId: id });
  });

  check('sold seats are taken', async (p) => {
    const sector = await newSector(p, [2]);
    const paid = await p.addHold({ sector, seats: [0] });
    await p.inTransaction((tx) => p.reservations.complete(tx, [paid]));
    expect(await hold(p, sector, [0])).toEqual({ kind: 'lost', taken: [sector.seatIds[0]], busy: [] });
    expect(await hold(p, sector, 2)).toEqual({ kind: 'none' });
  });

  check('a free seat that another transaction has locked is busy; one that has an owner is taken, locked or not', async (p) => {
    const sector = await newSector(p);
    const [expired, living] = [await p.addHold({ sector, seats: [0] }), await p.addHold({ sector, seats: [1] })];
    await p.expire(expired.id);
    const [busy, taken, both] = await p.inTransaction(async (tx) => {
      await p.reservations.lockComplete(tx, [expired, living]);
      const chosen = [
        [0, 2],
        [1, 2],
        [0, 1],
      ] as const;
      const outcomes = [];
      for (const indices of chosen) outcomes.push(await hold(p, sector, indices));
      return outcomes;
    });
    const [first, second] = sector.seatIds;
    expect([busy, taken]).toEqual([
      { kind: 'lost', taken: [], busy: [first] },
      { kind: 'lost', taken: [second], busy: [] },
    ]);
    expect(both).toEqual({ kind: 'lost', taken: [second], busy: [first] });
    expect(await statuses(p, sector)).toBe('available held available available');
  });

  describe('the ticket limit', () => {
    check('held, ordered and completed seats count, expired and released ones do not', async (p) => {
      const sector = await p.addSector(await p.addMatch({ maxTicketsPerFan: 4 }), 'East', [9]);
      const userId = randomUUID();
      const add = (seat: number) => p.addHold({ sector, seats: [seat], userId });
      const [living, ordered, completed] = [await add(0), await add(1), await add(2)];
      const [expired, released] = [await add(3), await add(4)];
      await p.inTransaction(async (tx) => {
        await p.reservations.setStatus(tx, ordered.id, 'ordered');
        await p.reservations.complete(tx, [completed]);
        await p.reservations.setStatus(tx, released.id, 'released');
      });
      await p.expire(expired.id);
      await expect(hold(p, sector, 2, { userId })).rejects.toThrow(refusal('TICKET_LIMIT_REACHED', { limit: 4, rest: 1 }));
      const fourth = await held(hold(p, sector, [8], { userId }));
      const listed = [living, ordered, completed, fourth].map(({ id }) => id);
      expect((await p.fan({ ...sector, userId }))?.reservationIds).toEqual(listed);
    });

    check('it is reported also if the seats are taken, and another match does not count', async (p) => {
      const sector = await p.addSector(await p.addMatch({ maxTicketsPerFan: 1 }), 'East', [2]);
      const { userId } = await p.addHold({ sector, seats: [0] });
      await expect(hold(p, sector, [0], { userId })).rejects.toThrow(refusal('TICKET_LIMIT_REACHED'));
      const elsewhere = await p.addSector(await p.addMatch({ maxTicketsPerFan: 1 }), 'East', [1]);
      await held(hold(p, elsewhere, 1, { userId }));
    });

    check('two requests of one fan at the same time stay within the limit', async (p) => {
      const sector = await p.addSector(await p.addMatch({ maxTicketsPerFan: 3 }), 'East', [9]);
      const userId = randomUUID();
      const requests = [hold(p, sector, 2, { userId }), hold(p, sector, 2, { userId })];
      const results = await Promise.allSettled(requests);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });
  });

  describe('turns', () => {
    const sectorWithTurns = async (p: PurchaseSetup) => p.addSector(await p.addMatch({ queueRequired: true }), 'East', [4]);
    const turnFor = ({ matchId }: TestSector) => ({ matchId, userId: randomUUID(), sessionToken: `st_${randomUUID()}` });

    check('a hold in a turn names it and ends with it at the latest', async (p) => {
      const sector = await sectorWithTurns(p);
      const [short, long] = [turnFor(sector), turnFor(sector)];
      await p.storeTurn(short, { seconds: 60 });
      await p.storeTurn(long, { seconds: 3600 });
      const [first, second] = [await held(hold(p, sector, 1, short)), await held(hold(p, sector, 1, long))];
      expect([first.sessionToken, second.sessionToken]).toEqual([short.sessionToken, long.sessionToken]);
      const difference = (second.expiresAt.getTime() - first.expiresAt.getTime()) / 1000;
      expect(difference).toBeGreaterThan(535);
      expect(difference).toBeLessThan(545);
    });

    check('a match without turns stores no session token', async (p) => {
      const { id } = await held(hold(p, await newSector(p), 1, { sessionToken: 'not needed' }));
      expect((await p.reservations.find(id))?.sessionToken).toBeNull();
    });

    check('a turn that the waiting room has granted counts before its event was applied', async (p) => {
      const sector = await sectorWithTurns(p);
      const turn = turnFor(sector);
      await p.grantTurn(turn);
      expect(await p.turn(turn.sessionToken)).toBeUndefined();
      expect((await held(hold(p, sector, 1, turn))).sessionToken).toBe(turn.sessionToken);
      expect(await p.turn(turn.sessionToken)).toEqual({ endReason: null });
    });

    check('without a turn of their own for this match, fans hold nothing', async (p) => {
      const [sector, elsewhere] = [await sectorWithTurns(p), await sectorWithTurns(p)];
      const [used, stranger, other, granted] = [turnFor(sector), turnFor(sector), turnFor(elsewhere), turnFor(elsewhere)];
      await p.storeTurn(used, { endReason: 'completed' });
      await p.storeTurn(stranger);
      await p.storeTurn(other);
      await p.grantTurn(granted);
      const refused: Partial<HoldRequest>[] = [
        ...[{}, { sessionToken: 'st_unknown' }, used, { sessionToken: stranger.sessionToken }],
        ...[other, granted].map(({ userId, sessionToken }) => ({ userId, sessionToken })),
      ];
      for (const change of refused) await expect(hold(p, sector, 1, change)).rejects.toThrow(refusal('PURCHASE_WINDOW_REQUIRED'));
      expect(await statuses(p, sector)).toBe('available available available available');
    });

    check('a fan whose own turn is over by time is told so', async (p) => {
      const sector = await sectorWithTurns(p);
      const [over, ended] = [turnFor(sector), turnFor(sector)];
      await p.storeTurn(over, { seconds: -1 });
      await p.storeTurn(ended, { endReason: 'window_timeout' });
      for (const turn of [over, ended])
        await expect(hold(p, sector, 1, turn)).rejects.toThrow(refusal('PURCHASE_WINDOW_EXPIRED'));
    });
  });

  describe('the sale', () => {
    const inSale = async (p: PurchaseSetup, facts: Parameters<PurchaseSetup['addMatch']>[0]) =>
      p.addSector(await p.addMatch(facts), 'East', [2]);

    check('is not open: nothing is held, and this is told before the turn and the limit', async (p) => {
      for (const saleStatus of ['closed', 'paused', 'scheduled'] as const)
        await expect(hold(p, await inSale(p, { saleStatus, maxTicketsPerFan: 1 }), 2)).rejects.toThrow(
          refusal('SALE_NOT_OPEN', { sale_status: saleStatus }),
        );
      const closed = await inSale(p, { saleStatus: 'closed', queueRequired: true });
      await expect(hold(p, closed, 1)).rejects.toThrow(refusal('SALE_NOT_OPEN'));
      await expect(hold(p, await inSale(p, { saleStatus: 'sold_out' }), 1)).rejects.toThrow(refusal('SOLD_OUT'));
    });

    check('is paused: fans who have a turn go on; a missing turn is told before the limit', async (p) => {
      const sector = await inSale(p, { saleStatus: 'paused', queueRequired: true, maxTicketsPerFan: 1 });
      const turn = { matchId: sector.matchId, userId: randomUUID(), sessionToken: `st_${randomUUID()}` };
      await p.storeTurn(turn);
      await expect(hold(p, sector, 2)).rejects.toThrow(refusal('PURCHASE_WINDOW_REQUIRED'));
      await expect(hold(p, sector, 2, turn)).rejects.toThrow(refusal('TICKET_LIMIT_REACHED'));
      await held(hold(p, sector, 1, turn));
    });
  });

  describe('the cooldown', () => {
    const fanIn = async (p: PurchaseSetup, facts: Parameters<PurchaseSetup['addMatch']>[0] = {}) => {
      const sector = await p.addSector(await p.addMatch(facts), 'East', [9]);
      return { sector, userId: randomUUID() };
    };
    /** A hold of one seat that began and ended so many minutes ago, unpaid. */
    const lapsed = async (p: PurchaseSetup, fan: Awaited<ReturnType<typeof fanIn>>, began: number, expired: number) => {
      const { id } = await held(hold(p, fan.sector, 1, { userId: fan.userId }));
      await p.lapse(id, { began: began * 60, expired: expired * 60 });
    };
    const threeLapsed = async (p: PurchaseSetup, fan: Awaited<ReturnType<typeof fanIn>>) => {
      for (const [began, expired] of [
        [31, 21],
        [21, 11],
        [11, 1],
      ] as const)
        await lapsed(p, fan, began, expired);
    };
    const next = (p: PurchaseSetup, { sector, userId }: Awaited<ReturnType<typeof fanIn>>) => hold(p, sector, 1, { userId });
    const inCooldown = refusal('HOLD_COOLDOWN', { until: expect.any(String), retry_after_seconds: 540 });

    check('begins with the third unpaid hold, whether or not the sweeper has ended the holds in the tables', async (p) => {
      for (const isSwept of [false, true]) {
        const fan = await fanIn(p);
        await threeLapsed(p, fan);
        if (isSwept) await p.reservations.expireDueReservations(100);
        await expect(next(p, fan)).rejects.toThrow(inCooldown);
        await expect(hold(p, fan.sector, [0], { userId: fan.userId })).rejects.toThrow(inCooldown);
        await held(hold(p, fan.sector, 1));
      }
    });

    check('is of one match: the fan holds seats of another one', async (p) => {
      const fan = await fanIn(p);
      await threeLapsed(p, fan);
      await held(next(p, { ...(await fanIn(p)), userId: fan.userId }));
    });

    check('is over in time: the count starts again at 0', async (p) => {
      const fan = await fanIn(p);
      for (const [began, expired] of [
        [41, 31],
        [31, 21],
        [21, 11],
      ] as const)
        await lapsed(p, fan, began, expired);
      await lapsed(p, fan, 0.9, 0.6);
      for (const [began, expired] of [
        [10, 8],
        [8, 6],
      ] as const)
        await lapsed(p, fan, began, expired);
      await lapsed(p, fan, 6, 4);
      await expect(next(p, fan)).rejects.toThrow(refusal('HOLD_COOLDOWN', { retry_after_seconds: 360 }));
    });

    check('does not begin when three holds expire at once', async (p) => {
      const fan = await fanIn(p);
      const three = [await held(next(p, fan)), await held(next(p, fan)), await held(next(p, fan))];
      for (const { id } of three) await p.lapse(id, { began: 10, expired: 0 });
      await held(next(p, fan));
    });

    check('begins after ten holds that were given back at once, but not after nine', async (p) => {
      const fan = await fanIn(p);
      for (let released = 1; released <= 10; released += 1) {
        const { id } = await held(next(p, fan));
        await p.inTransaction(async (tx) => {
          await p.reservations.setStatus(tx, id, 'released');
          await p.reservations.freeSeats(tx, id);
        });
        await p.lapse(id, { began: 100 - 5 * released, expired: 98 - 5 * released });
      }
      await expect(next(p, fan)).rejects.toThrow(refusal('HOLD_COOLDOWN'));
    });

    check('is told after the turn and before the limit', async (p) => {
      const fan = await fanIn(p, { queueRequired: true, maxTicketsPerFan: 1 });
      const turn = { matchId: fan.sector.matchId, userId: fan.userId, sessionToken: `st_${randomUUID()}` };
      await p.storeTurn(turn);
      for (const [began, expired] of [
        [31, 21],
        [21, 11],
        [11, 1],
      ] as const) {
        const { id } = await held(hold(p, fan.sector, 1, turn));
        await p.lapse(id, { began: began * 60, expired: expired * 60 });
      }
      await expect(next(p, fan)).rejects.toThrow(refusal('PURCHASE_WINDOW_REQUIRED'));
      await expect(hold(p, fan.sector, 2, turn)).rejects.toThrow(inCooldown);
    });

    check('does not begin if an order was paid, however it was paid', async (p) => {
      const pay: ((paid: Reservation) => Promise<unknown>)[] = [
        (paid) => p.inTransaction((tx) => p.reservations.complete(tx, [paid])),
        (paid) =>
          p.inTransaction(async (tx) => {
            await p.reservations.staysCounted(tx, paid);
            await p.reservations.setStatus(tx, paid.id, 'completed');
          }),
        async (paid) => {
          await p.expire(paid.id);
          await p.inTransaction(async (tx) => {
            await p.reservations.countAgain(tx, paid, 4);
            await p.reservations.setStatus(tx, paid.id, 'completed');
          });
        },
      ];
      for (const payWith of pay) {
        const fan = await fanIn(p);
        await lapsed(p, fan, 31, 21);
        await lapsed(p, fan, 21, 11);
        const paid = await held(next(p, fan));
        await payWith(paid);
        await lapsed(p, fan, 11, 1);
        await held(next(p, fan));
      }
    });

    check('begins although a payment that came too late was counted, if it was refunded', async (p) => {
      const fan = await fanIn(p);
      await lapsed(p, fan, 31, 21);
      await lapsed(p, fan, 21, 11);
      const late = await held(next(p, fan));
      await p.lapse(late.id, { began: 660, expired: 60 });
      await p.inTransaction((tx) => p.reservations.countAgain(tx, late, 4));
      await expect(next(p, fan)).rejects.toThrow(inCooldown);
    });

    check('a seat of a running hold is not counted, and two requests at the same time get the same answer', async (p) => {
      const fan = await fanIn(p);
      await lapsed(p, fan, 31, 21);
      await lapsed(p, fan, 21, 11);
      const third = await held(next(p, fan));
      await held(next(p, fan));
      await p.lapse(third.id, { began: 660, expired: 60 });
      const results = await Promise.allSettled([next(p, fan), next(p, fan)]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    });
  });

  check('an idempotency key makes one hold; a request that held nothing leaves its key unused', async (p) => {
    const sector = await newSector(p);
    const [userId, key] = [randomUUID(), randomUUID().replaceAll('-', '')];
    await p.addHold({ sector, seats: [0] });
    expect((await p.holdWithKey(key, request(sector, [0], { userId }))).kind).toBe('lost');
    const reservation = await held(p.holdWithKey(key, request(sector, [1], { userId })));
    await expect(p.holdWithKey(key, request(sector, [2], { userId }))).rejects.toThrow();
    expect(await p.fan({ ...sector, userId })).toEqual({ revision: 1, reservationIds: [reservation.id] });
    expect(await statuses(p, sector)).toBe('held held available available');
  });
}
