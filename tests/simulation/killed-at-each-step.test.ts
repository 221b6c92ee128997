import { Scheduler } from '#testing/simulation/scheduler';
import type { Reservation } from '../../apps/monolith/src/purchase/application/ports.ts';
import type { CheckedOut } from '../../apps/monolith/src/purchase/checkout/application/place-orders.ts';
import type { PaymentReport } from '../../apps/monolith/src/purchase/settlement/application/ports.ts';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { faultsAtEnd, faultsNow } from './invariants.ts';
import { ALL_PROTECTIONS, HOLD_MS, MATCH_ID, SimulatedSystem, type Replica } from './replicas.ts';
import { deliverOutbox } from './simulate.ts';
import { STYLES } from './styles.ts';

// Runs each use case once for each of its steps, and kills its process at this step. Then the use case is called again: by the fan
// with the same key, by the payment provider with the same event, by the expiry sweeper in a later run. The result must be the same
// as without the kill.

const [DEFAULT_STYLE] = STYLES;
const fan = { userId: 'ana' };

/** The calls of one fan, of the payment provider and of the expiry sweeper. */
class Actions {
  constructor(readonly system: SimulatedSystem) {}

  hold = (replica: Replica): Promise<unknown> => {
    const command = { ...fan, matchId: MATCH_ID, sessionToken: undefined, sectorId: 'east', quantity: 2 };
    const render = ({ id, seats }: Reservation): unknown => ({ id, seats: seats.map(({ seatId }) => seatId) });
    return this.system.answer({ key: 'hold', ...fan, render }, () => replica.holdSeats.execute(command));
  };

  checkOut = (replica: Replica): Promise<unknown> => {
    const [reservation] = this.system.db.rows(tables.reservations);
    if (!reservation) throw new Error('there is no reservation');
    const holders = reservation.seatIds.map((seatId) => ({ seatId, name: 'Ana' }));
    const command = { ...fan, reservationId: reservation.id, holders, email: 'ana@example.hr', key: 'checkout' };
    const render = ({ order, isNew }: CheckedOut): unknown => ({ orderId: order.id, intentId: order.payment.intentId, isNew });
    return this.system.answer({ key: 'checkout', ...fan, render }, () => replica.checkOut.execute(command));
  };

  pay = (): Promise<unknown> => {
    const [intent] = this.system.payments.intents.values();
    return Promise.resolve(intent && this.system.payments.pay(intent.intentId));
  };

  settle = (replica: Replica): Promise<unknown> => {
    const [intent] = this.system.payments.intents.values();
    const { intentId = '', amountCents, currency } = intent ?? {};
    const report: PaymentReport = { eventId: 'evt', type: 'succeeded', intentId, outcome: 'succeeded', amountCents, currency };
    return replica.settlePayment.execute(report);
  };

  release = (replica: Replica): Promise<unknown> => {
    const [reservation] = this.system.db.rows(tables.reservations);
    return replica.releaseReservation.execute({ ...fan, reservationId: reservation?.id ?? '' });
  };

  expire = (replica: Replica): Promise<unknown> => replica.expireReservations.execute();

  wait = (): Promise<unknown> => this.system.scheduler.sleep(2 * HOLD_MS);
}

type ActionName = 'hold' | 'checkOut' | 'pay' | 'settle' | 'release' | 'expire' | 'wait';

interface Outcome {
  readonly wasKilled: boolean;
  readonly faults: readonly string[];
  readonly reservations: readonly string[];
  readonly orders: readonly string[];
  readonly tickets: number;
  readonly intents: readonly string[];
}

async function runWithKill(before: readonly ActionName[], action: ActionName, killAtStep: number): Promise<Outcome> {
  const scheduler = new Scheduler(1);
  if (!DEFAULT_STYLE) throw new Error('no style is defined');
  const system = new SimulatedSystem(scheduler, ALL_PROTECTIONS, { ...DEFAULT_STYLE, queue: 0, clock: 0 }, 0);
  const actions = new Actions(system);
  const faults: string[] = [];
  system.db.committed.push(() => faults.push(...faultsNow(system)));
  let wasKilled = false;
  const done = scheduler.spawn('ana', undefined, async () => {
    for (const earlierAction of before) await actions[earlierAction](system.anyReplica());
    const [first, second] = system.replicas;
    if (!first || !second) throw new Error('two replicas are needed');
    // Count only the steps of this process. Shared transactions (one for a whole batch) run in their own tasks.
    first.diesAfterSteps = killAtStep;
    const victim = scheduler.spawn(action, first, () => actions[action](first));
    wasKilled = (await scheduler.finished(victim)).state === 'crashed';
    if (victim.state === 'failed') throw victim.error;
    if (wasKilled) await scheduler.finished(scheduler.spawn(`${action} again`, second, () => actions[action](second)));
    // Call the action once more, even if its answer arrived: a repetition must change no data.
    const repeated = await scheduler.finished(scheduler.spawn(`${action} once more`, second, () => actions[action](second)));
    if (repeated.state === 'failed') throw repeated.error;
    if (action === 'checkOut' && !(repeated.value as CheckedOut).isNew)
      faults.push('the first use of the key was answered as a repeat');
    await deliverOutbox(system);
  });
  await scheduler.run();
  if (done.state !== 'done') throw done.error;
  const orders = system.db.rows(tables.orders).map(({ status }) => status);
  if (!orders.includes('awaiting_payment') && before.length > 1) faults.push(...faultsAtEnd(system));
  return {
    wasKilled,
    faults,
    reservations: system.db.rows(tables.reservations).map(({ status }) => status),
    orders,
    tickets: system.db.rows(tables.tickets).length,
    intents: [...system.payments.intents.values()].map(({ status, refunds }) => (refunds.size > 0 ? 'refunded' : status)),
  };
}

const withoutOrder = { orders: [], tickets: 0, intents: [] };

test.each<{ action: ActionName; before: ActionName[]; name: string; expected: Omit<Outcome, 'wasKilled' | 'faults'> }>([
  { name: 'HoldSeats', before: [], action: 'hold', expected: { ...withoutOrder, reservations: ['held'] } },
  {
    name: 'CheckOut',
    before: ['hold'],
    action: 'checkOut',
    expected: { reservations: ['ordered'], orders: ['awaiting_payment'], tickets: 0, intents: ['open'] },
  },
  {
    name: 'SettlePayment',
    before: ['hold', 'checkOut', 'pay'],
    action: 'settle',
    expected: { reservations: ['completed'], orders: ['completed'], tickets: 2, intents: ['succeeded'] },
  },
  {
    name: 'SettlePayment after the expiry, with the seats still free',
    before: ['hold', 'checkOut', 'pay', 'wait', 'expire'],
    action: 'settle',
    expected: { reservations: ['completed'], orders: ['completed'], tickets: 2, intents: ['succeeded'] },
  },
  {
    name: 'SettlePayment of a released order',
    before: ['hold', 'checkOut', 'pay', 'release'],
    action: 'settle',
    expected: { reservations: ['completed'], orders: ['completed'], tickets: 2, intents: ['succeeded'] },
  },
  {
    name: 'ReleaseReservation of an order that awaits its payment',
    before: ['hold', 'checkOut'],
    action: 'release',
    expected: { reservations: ['released'], orders: ['cancelled'], tickets: 0, intents: ['canceled'] },
  },
  {
    name: 'ExpireReservations',
    before: ['hold', 'checkOut', 'wait'],
    action: 'expire',
    expected: { reservations: ['expired'], orders: ['expired'], tickets: 0, intents: ['open'] },
  },
])(
  '$name, killed at each of its steps and called again: the result is the same as without a kill',
  async ({ before, action, expected }) => {
    let steps = 1;
    for (; ; steps += 1) {
      const { wasKilled, ...outcome } = await runWithKill(before, action, steps);
      expect([steps, outcome]).toEqual([steps, { faults: [], ...expected }]);
      if (!wasKilled) break;
    }
    expect(steps).toBeGreaterThan(3);
  },
);
