import { Scheduler } from '#testing/simulation/scheduler';
import type { Reservation } from '../../apps/monolith/src/purchase/application/ports.ts';
import type { CheckedOut } from '../../apps/monolith/src/purchase/checkout/application/place-orders.ts';
import type { PaymentReport } from '../../apps/monolith/src/purchase/settlement/application/settle-payment.ts';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { faultsInTheEnd, faultsNow } from './invariants.ts';
import { ALL_PROTECTIONS, HOLD_MS, MATCH, Shop, type Replica } from './replicas.ts';
import { relay } from './simulate.ts';
import { STYLES } from './styles.ts';

// Each use case is run once for each of its steps, its process dies there, and whoever called calls again: the fan with the same
// key, the provider with the same event, the scheduler some time later. It must be as if nothing had happened.

const [ANY_DAY] = STYLES;
const fan = { userId: 'ana' };

/** What one fan does at the counter, one thing after the other. */
class Counter {
  constructor(readonly shop: Shop) {}

  hold = (replica: Replica): Promise<unknown> => {
    const wish = { ...fan, matchId: MATCH, sessionToken: undefined, sectorId: 'east', quantity: 2 };
    const render = ({ id, seats }: Reservation): unknown => ({ id, seats: seats.map(({ seatId }) => seatId) });
    return this.shop.answer({ key: 'hold', ...fan, render }, () => replica.holdSeats.execute(wish));
  };

  checkOut = (replica: Replica): Promise<unknown> => {
    const [reservation] = this.shop.db.rows(tables.reservations);
    if (!reservation) throw new Error('nothing is held');
    const holders = reservation.seatIds.map((seatId) => ({ seatId, name: 'Ana' }));
    const command = { ...fan, reservationId: reservation.id, holders, email: 'ana@example.hr', key: 'checkout' };
    const render = ({ order, isNew }: CheckedOut): unknown => ({ orderId: order.id, intentId: order.payment.intentId, isNew });
    return this.shop.answer({ key: 'checkout', ...fan, render }, () => replica.checkOut.execute(command));
  };

  pay = (): Promise<unknown> => {
    const [intent] = this.shop.payments.intents.values();
    return Promise.resolve(intent && this.shop.payments.pay(intent.intentId));
  };

  settle = (replica: Replica): Promise<unknown> => {
    const [intent] = this.shop.payments.intents.values();
    const { intentId = '', amountCents, currency } = intent ?? {};
    const report: PaymentReport = { eventId: 'evt', type: 'succeeded', intentId, outcome: 'succeeded', amountCents, currency };
    return replica.settlePayment.execute(report);
  };

  release = (replica: Replica): Promise<unknown> => {
    const [reservation] = this.shop.db.rows(tables.reservations);
    return replica.releaseReservation.execute({ ...fan, reservationId: reservation?.id ?? '' });
  };

  expire = (replica: Replica): Promise<unknown> => replica.expireReservations.execute();

  wait = (): Promise<unknown> => this.shop.scheduler.sleep(2 * HOLD_MS);
}

type Act = 'hold' | 'checkOut' | 'pay' | 'settle' | 'release' | 'expire' | 'wait';

interface Ending {
  readonly wasKilled: boolean;
  readonly faults: readonly string[];
  readonly reservations: readonly string[];
  readonly orders: readonly string[];
  readonly tickets: number;
  readonly intents: readonly string[];
}

async function live(before: readonly Act[], act: Act, diesAfter: number): Promise<Ending> {
  const scheduler = new Scheduler(1);
  if (!ANY_DAY) throw new Error('there is no day');
  const shop = new Shop(scheduler, ALL_PROTECTIONS, { ...ANY_DAY, queue: 0, clock: 0 }, 0);
  const counter = new Counter(shop);
  const faults: string[] = [];
  shop.db.committed.push(() => faults.push(...faultsNow(shop)));
  let wasKilled = false;
  const done = scheduler.spawn('ana', undefined, async () => {
    for (const earlier of before) await counter[earlier](shop.any());
    const [first, second] = shop.replicas;
    if (!first || !second) throw new Error('two replicas');
    // Counted are the steps of the process: rounds are tasks of their own.
    first.diesAfter = diesAfter;
    const victim = scheduler.spawn(act, first, () => counter[act](first));
    wasKilled = (await scheduler.finished(victim)).state === 'crashed';
    if (victim.state === 'failed') throw victim.error;
    if (wasKilled) await scheduler.finished(scheduler.spawn(`${act} again`, second, () => counter[act](second)));
    // Its answer was lost with it, or came and was not believed.
    const again = await scheduler.finished(scheduler.spawn(`${act} once more`, second, () => counter[act](second)));
    if (again.state === 'failed') throw again.error;
    if (act === 'checkOut' && !(again.value as CheckedOut).isNew)
      faults.push('the first use of the key was answered as a repeat');
    await relay(shop);
  });
  await scheduler.run();
  if (done.state !== 'done') throw done.error;
  const orders = shop.db.rows(tables.orders).map(({ status }) => status);
  if (!orders.includes('awaiting_payment') && before.length > 1) faults.push(...faultsInTheEnd(shop));
  return {
    wasKilled,
    faults,
    reservations: shop.db.rows(tables.reservations).map(({ status }) => status),
    orders,
    tickets: shop.db.rows(tables.tickets).length,
    intents: [...shop.payments.intents.values()].map(({ status, refunds }) => (refunds.size > 0 ? 'refunded' : status)),
  };
}

const nobody = { orders: [], tickets: 0, intents: [] };

test.each<{ act: Act; before: Act[]; what: string; ends: Omit<Ending, 'wasKilled' | 'faults'> }>([
  { what: 'HoldSeats', before: [], act: 'hold', ends: { ...nobody, reservations: ['held'] } },
  {
    what: 'CheckOut',
    before: ['hold'],
    act: 'checkOut',
    ends: { reservations: ['ordered'], orders: ['awaiting_payment'], tickets: 0, intents: ['open'] },
  },
  {
    what: 'SettlePayment',
    before: ['hold', 'checkOut', 'pay'],
    act: 'settle',
    ends: { reservations: ['completed'], orders: ['completed'], tickets: 2, intents: ['succeeded'] },
  },
  {
    what: 'SettlePayment, late, the seats still free',
    before: ['hold', 'checkOut', 'pay', 'wait', 'expire'],
    act: 'settle',
    ends: { reservations: ['completed'], orders: ['completed'], tickets: 2, intents: ['succeeded'] },
  },
  {
    what: 'SettlePayment of an order given up',
    before: ['hold', 'checkOut', 'pay', 'release'],
    act: 'settle',
    ends: { reservations: ['completed'], orders: ['completed'], tickets: 2, intents: ['succeeded'] },
  },
  {
    what: 'ReleaseReservation of what is being paid',
    before: ['hold', 'checkOut'],
    act: 'release',
    ends: { reservations: ['released'], orders: ['cancelled'], tickets: 0, intents: ['canceled'] },
  },
  {
    what: 'ExpireReservations',
    before: ['hold', 'checkOut', 'wait'],
    act: 'expire',
    ends: { reservations: ['expired'], orders: ['expired'], tickets: 0, intents: ['open'] },
  },
])('$what, killed at each of its steps and called again: as if nothing had happened', async ({ before, act, ends }) => {
  let steps = 1;
  for (; ; steps += 1) {
    const { wasKilled, ...ending } = await live(before, act, steps);
    expect([steps, ending]).toEqual([steps, { faults: [], ...ends }]);
    if (!wasKilled) break;
  }
  expect(steps).toBeGreaterThan(3);
});
