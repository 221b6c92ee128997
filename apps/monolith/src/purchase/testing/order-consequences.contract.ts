import type { CompletedOrder } from '../checkout/application/ports.ts';
import { newOrder } from './new-order.ts';
import { contractTests, type PurchaseSetup, type TestSector, type Turn } from './purchase-setup.ts';

/** The tests that every `OrderConsequences` must pass. */
export function orderConsequencesContract(open: () => PurchaseSetup): void {
  const check = contractTests(open);

  const newSector = async (p: PurchaseSetup) => p.addSector(await p.addMatch({ queueRequired: true }), 'East', [4]);
  const soldIn = async (p: PurchaseSetup, sector: TestSector, seats: number[], turn?: string): Promise<CompletedOrder> => {
    const reservation = await p.addHold({ sector, seats, sessionToken: turn ?? null });
    return { order: newOrder(reservation), reservation };
  };
  const complete = (p: PurchaseSetup, ...completed: CompletedOrder[]) =>
    p.inTransaction((tx) => p.consequences.completed(tx, completed));
  const withIntent = (order: CompletedOrder['order'], intentId: string) => ({
    ...order,
    payment: { ...order.payment, intentId },
  });

  check('each completed order gets one ticket for each seat, and a seat has one valid ticket', async (p) => {
    const sector = await newSector(p);
    const [first, second] = [await soldIn(p, sector, [0, 1]), await soldIn(p, sector, [2])];
    await complete(p, first, second);
    for (const { order, reservation } of [first, second]) {
      const seatIds = reservation.seats.map(({ seatId }) => seatId).sort();
      expect(await p.tickets(order.id)).toEqual(seatIds.map((seatId) => ({ seatId, userId: order.userId })));
    }
    const again = { order: newOrder(first.reservation), reservation: first.reservation };
    await expect(complete(p, again)).rejects.toMatchObject({ code: '23505' });
    expect(await p.tickets(again.order.id)).toEqual([]);
  });

  check('the turns of completed orders end; a turn that has ended before keeps its reason', async (p) => {
    const sector = await newSector(p);
    const [open_, over] = [await soldIn(p, sector, [0], 'st_open'), await soldIn(p, sector, [1], 'st_over')];
    const turnOf = ({ order }: CompletedOrder): Turn => ({ ...order, sessionToken: order.sessionToken ?? '' });
    await p.storeTurn(turnOf(open_));
    await p.storeTurn(turnOf(over), { endReason: 'left' });
    await complete(p, open_, over);
    expect([await p.turn('st_open'), await p.turn('st_over')]).toEqual([{ endReason: 'completed' }, { endReason: 'left' }]);
  });

  check('a refund asks the provider once for the whole captured amount, under a key of the order', async (p) => {
    const sector = await newSector(p);
    const [first, second] = [(await soldIn(p, sector, [0])).order, (await soldIn(p, sector, [1])).order];
    const refund = (order: CompletedOrder['order'], amountCents: number) =>
      p.inTransaction((tx) => p.consequences.refunded(tx, order, { amountCents, currency: 'EUR' }));
    await refund(withIntent(first, 'pi_1'), 2499);
    await refund(withIntent(second, 'pi_2'), 2500);
    const refunded = (intentId: string, amountCents: number) => ({
      ...{ event: 'order.refunded', command: { kind: 'refund', intentId, amountCents, key: expect.any(String) } },
    });
    const messages = [...(await p.messages(first.id)), ...(await p.messages(second.id))];
    expect(messages).toEqual([refunded('pi_1', 2499), refunded('pi_2', 2500)]);
    expect(new Set(messages.map(({ command }) => (command as { key: string }).key)).size).toBe(2);
  });

  check('a refund of 0 cents asks nothing of the provider; a refund without an intent fails', async (p) => {
    const { order } = await soldIn(p, await newSector(p), [0]);
    const refund = (amountCents: number) =>
      p.inTransaction((tx) => p.consequences.refunded(tx, order, { amountCents, currency: 'EUR' }));
    await refund(0);
    await expect(refund(2500)).rejects.toThrow(`order ${order.id} was paid without an intent`);
    expect(await p.messages(order.id)).toEqual([]);
  });

  check('a cancelled order cancels its intent, if it has one', async (p) => {
    const { order } = await soldIn(p, await newSector(p), [0]);
    await p.inTransaction((tx) => p.consequences.cancelled(tx, order));
    expect(await p.messages(order.id)).toEqual([]);
    await p.inTransaction((tx) => p.consequences.cancelled(tx, withIntent(order, 'pi_1')));
    expect(await p.messages(order.id)).toEqual([{ event: 'order.cancelled', command: { kind: 'cancel', intentId: 'pi_1' } }]);
  });
}
