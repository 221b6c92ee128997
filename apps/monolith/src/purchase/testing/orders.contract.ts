import { randomUUID } from 'node:crypto';
import type { Order } from '../application/sale-ports.ts';
import { newOrder } from './new-order.ts';
import { contractTests, type PurchaseSetup, type TestSector } from './purchase-setup.ts';

/** The tests that every `Orders` must pass. */
export function ordersContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  const sectorOfFour = async (p: PurchaseSetup) => p.addSector(await p.addMatch(), 'East', [4]);
  /** An order, not stored yet, of a new hold of one seat. */
  const orderOfHold = async (p: PurchaseSetup, sector: TestSector, seat = 0, sessionToken: string | null = null) =>
    newOrder(await p.addHold({ sector, seats: [seat], sessionToken }));
  const place = (p: PurchaseSetup, ...orders: Order[]) => p.inTransaction((tx) => p.orders.place(tx, orders));
  const placed = async (p: PurchaseSetup, seat = 0, sessionToken: string | null = null): Promise<Order> => {
    const order = await orderOfHold(p, await sectorOfFour(p), seat, sessionToken);
    await place(p, order);
    return order;
  };
  const stored = (p: PurchaseSetup, { id }: Order) => p.inTransaction((tx) => p.orders.lock(tx, id));
  const holdStatus = async (p: PurchaseSetup, order: Order) => (await p.reservations.find(order.reservationId))?.status;
  const intent = (intentId: string): Order['payment'] => ({
    ...{ provider: 'sandbox', intentId, clientSecret: `${intentId}_secret`, confirmUrl: null },
  });
  const setIntent = (p: PurchaseSetup, { id }: Order, intentId: string) =>
    p.inTransaction((tx) => p.orders.setIntent(tx, id, intent(intentId)));

  check('order numbers are different, and those of a transaction that was rolled back are not used again', async (p) => {
    const drawn: string[] = [];
    const draw = (count: number, isRolledBack = false) =>
      p.inTransaction(async (tx) => {
        drawn.push(...(await p.orders.nextNumbers(tx, count)));
        if (isRolledBack) throw new Error('rolled back');
      });
    await draw(2);
    await expect(draw(1, true)).rejects.toThrow('rolled back');
    await draw(1);
    expect(new Set(drawn).size).toBe(4);
    for (const number of drawn) expect(number).toMatch(/^ORD-\d{4}-\d{6,}$/);
  });

  check('a placed order is found as it was given, and its hold is ordered', async (p) => {
    const order = await placed(p, 0, 'st_a');
    expect(await stored(p, order)).toEqual(order);
    expect(await p.inTransaction((tx) => p.orders.lockOfReservation(tx, order.reservationId))).toEqual(order);
    expect([await holdStatus(p, order), await p.timeline(order.id)]).toEqual(['ordered', ['created']]);
    await p.inTransaction(async (tx) => {
      expect(await p.orders.lock(tx, order.reservationId)).toBeUndefined();
      expect(await p.orders.lockOfReservation(tx, order.id)).toBeUndefined();
    });
  });

  describe('one order for each turn', () => {
    check('an order of a turn that has an order is skipped, also in the same call; its hold stays held', async (p) => {
      const sector = await sectorOfFour(p);
      const [first, same, later] = [
        await orderOfHold(p, sector, 0, 'st_a'),
        await orderOfHold(p, sector, 1, 'st_a'),
        await orderOfHold(p, sector, 2, 'st_a'),
      ];
      const other = await orderOfHold(p, sector, 3, 'st_b');
      expect(await place(p, first, same, other)).toEqual(new Set([first.id, other.id]));
      expect(await place(p, later)).toEqual(new Set());
      for (const order of [same, later]) {
        expect(await stored(p, order)).toBeUndefined();
        expect([await holdStatus(p, order), await p.timeline(order.id)]).toEqual(['held', []]);
      }
      expect(await p.inTransaction((tx) => p.orders.inWindow(tx, 'st_a'))).toEqual({
        id: first.id,
        reservationId: first.reservationId,
      });
    });

    check('orders without a turn do not exclude each other', async (p) => {
      const sector = await sectorOfFour(p);
      const orders = [await orderOfHold(p, sector, 0), await orderOfHold(p, sector, 1)];
      expect((await place(p, ...orders)).size).toBe(2);
    });

    check('an order that gives its turn up leaves it to another order, and cannot take it back then', async (p) => {
      const sector = await sectorOfFour(p);
      const [first, second] = [await orderOfHold(p, sector, 0, 'st_a'), await orderOfHold(p, sector, 1, 'st_a')];
      await place(p, first);
      const reclaim = (order: Order) => p.inTransaction((tx) => p.orders.reclaimWindow(tx, order));
      const giveUp = (order: Order) => p.inTransaction((tx) => p.orders.giveUpWindow(tx, order));
      const owner = () => p.inTransaction(async (tx) => (await p.orders.inWindow(tx, 'st_a'))?.id);
      expect([await reclaim(first), await owner()]).toEqual([true, first.id]);
      await giveUp(first);
      expect(await owner()).toBeUndefined();
      expect([await reclaim(first), await owner()]).toEqual([true, first.id]);
      await giveUp(first);
      await place(p, second);
      expect([await reclaim(first), await owner()]).toEqual([false, second.id]);
      await giveUp(first);
      expect(await owner()).toBe(second.id);
    });

    check('an order without a turn can give up and take back nothing', async (p) => {
      const order = await placed(p);
      await p.inTransaction((tx) => p.orders.giveUpWindow(tx, order));
      expect(await p.inTransaction((tx) => p.orders.reclaimWindow(tx, order))).toBe(true);
    });
  });

  check('a reservation has one order: a second one fails, and nothing is stored of it', async (p) => {
    const order = await placed(p);
    const second = { ...order, id: randomUUID(), number: 'ORD-2026-999999' };
    await expect(place(p, second)).rejects.toMatchObject({ code: '23505' });
    expect([await stored(p, second), await p.timeline(second.id)]).toEqual([undefined, []]);
  });

  describe('payments', () => {
    check('an intent replaces the earlier one; the reservation is found by both', async (p) => {
      const order = await placed(p);
      await setIntent(p, order, 'pi_1');
      expect(await stored(p, order)).toEqual({ ...order, payment: intent('pi_1') });
      await setIntent(p, order, 'pi_2');
      expect((await stored(p, order))?.payment).toEqual(intent('pi_2'));
      for (const intentId of ['pi_1', 'pi_2'])
        expect(await p.inTransaction((tx) => p.orders.reservationPaid(tx, { intentId }))).toBe(order.reservationId);
    });

    check('an unknown intent finds its reservation by the order id, as long as that order has no intent', async (p) => {
      const order = await placed(p);
      const find = (by: { intentId?: string; orderId?: string }) => p.inTransaction((tx) => p.orders.reservationPaid(tx, by));
      expect(await find({ intentId: 'pi_1', orderId: order.id })).toBe(order.reservationId);
      expect(await find({ intentId: 'pi_1' })).toBeUndefined();
      await setIntent(p, order, 'pi_2');
      expect(await find({ intentId: 'pi_1', orderId: order.id })).toBeUndefined();
    });

    check('first intents are stored only on orders that await payment, have no intent and are not locked', async (p) => {
      const sector = await sectorOfFour(p);
      const orders = [0, 1, 2, 3].map((seat) => orderOfHold(p, sector, seat));
      const [free, locked, paid, withIntent] = (await Promise.all(orders)) as [Order, Order, Order, Order];
      await place(p, free, locked, paid, withIntent);
      await p.inTransaction((tx) => p.orders.setStatus(tx, [paid.id], 'completed', []));
      await setIntent(p, withIntent, 'pi_old');
      const all = [free, locked, paid, withIntent].map(({ id: orderId }) => ({ orderId, payment: intent(`pi_${orderId}`) }));
      const storedIds = await p.inTransaction(async (tx) => {
        await p.orders.lock(tx, locked.id);
        return p.inTransaction((other) => p.orders.setFirstIntents(other, all));
      });
      expect(storedIds).toEqual(new Set([free.id]));
      const intents = [];
      for (const order of [free, locked, paid, withIntent]) intents.push((await stored(p, order))?.payment.intentId);
      expect(intents).toEqual([`pi_${free.id}`, null, null, 'pi_old']);
      expect(await p.inTransaction((tx) => p.orders.reservationPaid(tx, { intentId: `pi_${free.id}` }))).toBe(free.reservationId);
    });

    check('the orders that await these intents are locked, without those that are paid, renewed or locked', async (p) => {
      const sector = await sectorOfFour(p);
      const orders = [0, 1, 2, 3].map((seat) => orderOfHold(p, sector, seat));
      const [free, locked, paid, renewed] = (await Promise.all(orders)) as [Order, Order, Order, Order];
      await place(p, free, locked, paid, renewed);
      const named = { free, locked, paid, renewed };
      for (const [name, order] of Object.entries(named)) await setIntent(p, order, `pi_${name}`);
      await setIntent(p, renewed, 'pi_newer');
      await p.inTransaction((tx) => p.orders.setStatus(tx, [paid.id], 'completed', []));
      const found = await p.inTransaction(async (tx) => {
        await p.orders.lock(tx, locked.id);
        const intentIds = ['pi_free', 'pi_locked', 'pi_paid', 'pi_renewed', 'pi_unknown'];
        return p.inTransaction((other) => p.orders.lockAwaiting(other, intentIds));
      });
      expect([...found.keys()]).toEqual(['pi_free']);
      expect(found.get('pi_free')).toEqual({ ...free, payment: intent('pi_free') });
      expect(await p.inTransaction((tx) => p.orders.lockAwaiting(tx, []))).toEqual(new Map());
    });
  });

  check('a status is set on all orders, with all events in their order', async (p) => {
    const sector = await sectorOfFour(p);
    const [first, second] = [await orderOfHold(p, sector, 0), await orderOfHold(p, sector, 1)];
    await place(p, first, second);
    const events = ['payment_succeeded', 'completed'];
    await p.inTransaction((tx) => p.orders.setStatus(tx, [first.id, second.id], 'completed', events));
    await p.inTransaction((tx) => p.orders.note(tx, first.id, 'payment_failed'));
    expect(await stored(p, second)).toEqual({ ...second, status: 'completed' });
    expect(await p.timeline(first.id)).toEqual(['created', ...events, 'payment_failed']);
    expect(await p.timeline(second.id)).toEqual(['created', ...events]);
  });

  describe('remove', () => {
    const remove = (p: PurchaseSetup, { id }: Order) => p.inTransaction((tx) => p.orders.remove(tx, id));

    check('deletes an order without a payment, with its timeline; its hold and its turn may be ordered again', async (p) => {
      const order = await placed(p, 0, 'st_a');
      await remove(p, order);
      expect([await stored(p, order), await p.timeline(order.id)]).toEqual([undefined, []]);
      const again = { ...order, id: randomUUID(), number: 'ORD-2026-999998' };
      expect(await place(p, again)).toEqual(new Set([again.id]));
    });

    check('keeps an order that has an intent or is completed', async (p) => {
      const sector = await sectorOfFour(p);
      const [withIntent, free] = [await orderOfHold(p, sector, 0), await orderOfHold(p, sector, 1)];
      await place(p, withIntent, free);
      await setIntent(p, withIntent, 'pi_1');
      await p.inTransaction((tx) => p.orders.setStatus(tx, [free.id], 'completed', ['completed']));
      for (const order of [withIntent, free]) await remove(p, order);
      expect((await stored(p, withIntent))?.payment.intentId).toBe('pi_1');
      expect(await p.timeline(free.id)).toEqual(['created', 'completed']);
    });
  });

  check('barred: only the given fans who are on the blacklist', async (p) => {
    const sector = await sectorOfFour(p);
    const [listed, other, third] = [0, 1, 2].map((seat) => p.addHold({ sector, seats: [seat] }));
    const [a, b, c] = [(await listed!).userId, (await other!).userId, (await third!).userId];
    for (const userId of [a, c]) await p.blacklist(userId);
    expect(await p.inTransaction((tx) => p.orders.barred(tx, [a, b]))).toEqual(new Set([a]));
    expect(await p.inTransaction((tx) => p.orders.barred(tx, []))).toEqual(new Set());
  });
}
