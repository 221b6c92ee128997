import type { Reservation } from '../application/ports.ts';
import type { Order } from '../application/sale-ports.ts';
import { newOrder } from './new-order.ts';
import { contractTests, type PurchaseSetup } from './purchase-setup.ts';

/** The tests of the expiry sweeper that every `Reservations` must pass. */
export function reservationExpiryContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  const sectorOfFour = async (p: PurchaseSetup) => p.addSector(await p.addMatch(), 'East', [4]);
  const sweep = (p: PurchaseSetup, limit = 100) => p.reservations.expireDueReservations(limit);
  const stored = async (p: PurchaseSetup, hold: Reservation) => ({
    status: (await p.reservations.find(hold.id))?.status,
    seats: await Promise.all(hold.seats.map(async ({ seatId }) => (await p.seat(seatId)).status)),
    messages: (await p.messages(hold.id)).map(({ event }) => event),
  });
  const orderOf = async (p: PurchaseSetup, hold: Reservation): Promise<Order> => {
    const order = newOrder(hold);
    await p.inTransaction((tx) => p.orders.place(tx, [order]));
    return order;
  };

  check('an expired hold ends once: its seats are available, and one message says so', async (p) => {
    const sector = await sectorOfFour(p);
    const [due, living] = [await p.addHold({ sector, seats: [0, 1] }), await p.addHold({ sector, seats: [2] })];
    await p.expire(due.id);
    expect(await sweep(p)).toEqual({ examined: 1, ended: 1 });
    expect(await sweep(p)).toEqual({ examined: 0, ended: 0 });
    const freed = { status: 'expired', seats: ['available', 'available'], messages: ['reservation.expired'] };
    expect(await stored(p, due)).toEqual(freed);
    expect(await stored(p, living)).toEqual({ status: 'held', seats: ['held'], messages: [] });
  });

  check('the order of an expired hold ends with it and gives up its turn', async (p) => {
    const sector = await sectorOfFour(p);
    const hold = await p.addHold({ sector, seats: [0], sessionToken: 'st_a' });
    const order = await orderOf(p, hold);
    await p.expire(hold.id);
    expect(await sweep(p)).toEqual({ examined: 1, ended: 1 });
    await p.inTransaction(async (tx) => {
      expect((await p.orders.lock(tx, order.id))?.status).toBe('expired');
      expect(await p.orders.inWindow(tx, 'st_a')).toBeUndefined();
    });
    expect(await p.timeline(order.id)).toEqual(['created', 'expired']);
  });

  check('a reservation that was paid or released in time keeps its status and is examined only once', async (p) => {
    const sector = await sectorOfFour(p);
    const [paid, released] = [await p.addHold({ sector, seats: [0] }), await p.addHold({ sector, seats: [1] })];
    await p.inTransaction(async (tx) => {
      await p.reservations.complete(tx, [paid]);
      await p.reservations.setStatus(tx, released.id, 'released');
      await p.reservations.freeSeats(tx, released.id);
    });
    for (const { id } of [paid, released]) await p.expire(id);
    expect(await sweep(p)).toEqual({ examined: 2, ended: 0 });
    expect(await sweep(p)).toEqual({ examined: 0, ended: 0 });
    expect(await stored(p, paid)).toEqual({ status: 'completed', seats: ['sold'], messages: [] });
    expect(await stored(p, released)).toEqual({ status: 'released', seats: ['available'], messages: [] });
  });

  check('a seat of an expired hold that has a new owner keeps this owner', async (p) => {
    const sector = await sectorOfFour(p);
    const due = await p.addHold({ sector, seats: [0, 1] });
    await p.expire(due.id);
    const owner = await p.addHold({ sector, seats: [1] });
    expect(await sweep(p)).toEqual({ examined: 1, ended: 1 });
    expect(await p.seat(sector.seatIds[0] ?? '')).toEqual({ status: 'available', reservationId: null });
    expect(await p.seat(sector.seatIds[1] ?? '')).toEqual({ status: 'held', reservationId: owner.id });
  });

  check('batches continue after the last examined reservation, the oldest first', async (p) => {
    const sector = await sectorOfFour(p);
    for (const seat of [0, 1, 2]) await p.expire((await p.addHold({ sector, seats: [seat] })).id);
    const first = await p.reservations.expireDueReservations(2);
    expect(first).toEqual({ examined: 2, ended: 2, next: expect.objectContaining({ id: expect.any(String) }) });
    expect(await p.reservations.expireDueReservations(2, first.next)).toEqual({ examined: 1, ended: 1 });
  });

  check('a reservation that another transaction has locked is not examined', async (p) => {
    const hold = await p.addHold({ sector: await sectorOfFour(p), seats: [0] });
    await p.expire(hold.id);
    const swept = await p.inTransaction(async (tx) => {
      await p.reservations.lock(tx, hold.id);
      return sweep(p);
    });
    expect(swept).toEqual({ examined: 0, ended: 0 });
    expect(await sweep(p)).toEqual({ examined: 1, ended: 1 });
  });

  check('a reservation with a seat that another transaction has locked stays as it was until a later run', async (p) => {
    const hold = await p.addHold({ sector: await sectorOfFour(p), seats: [0, 1] });
    await p.expire(hold.id);
    const swept = await p.inTransaction(async (tx) => {
      expect(await p.reservations.lockComplete(tx, [hold])).toEqual(new Set([hold.id]));
      return sweep(p);
    });
    expect(swept).toEqual({ examined: 1, ended: 0 });
    expect(await stored(p, hold)).toEqual({ status: 'expired', seats: ['held', 'held'], messages: [] });
    expect(await sweep(p)).toEqual({ examined: 1, ended: 1 });
  });

  check('a reservation with an order that another transaction has locked stays as it was until a later run', async (p) => {
    const hold = await p.addHold({ sector: await sectorOfFour(p), seats: [0] });
    const order = await orderOf(p, hold);
    await p.expire(hold.id);
    const swept = await p.inTransaction(async (tx) => {
      await p.orders.lock(tx, order.id);
      return sweep(p);
    });
    expect([swept, await p.timeline(order.id)]).toEqual([{ examined: 1, ended: 0 }, ['created']]);
    expect(await sweep(p)).toEqual({ examined: 1, ended: 1 });
  });
}
