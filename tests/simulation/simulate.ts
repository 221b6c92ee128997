import { Scheduler } from '#testing/simulation/scheduler';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { PaymentSimulator } from './payment-simulator.ts';
import { Fan } from './fans.ts';
import { faultsInTheEnd, faultsNow, lateInAClosedSale, waitsThatShouldNot } from './invariants.ts';
import { ALL_PROTECTIONS, HOLD_MS, MATCH, Shop, type Protections } from './replicas.ts';
import { REFUSED_AND_FREE, STYLES } from './styles.ts';

export interface Day {
  readonly protections?: Protections;
  /** The name of one; without, chance decides. */
  readonly style?: string;
  /** With every step. */
  readonly isTold?: boolean;
}

export interface Run {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly steps: number;
  /** The same for runs whose steps came in the same order. */
  readonly interleaving: number;
  /** What happened, to see that a crowd of seeds gets everywhere. */
  readonly saw: Readonly<Record<string, number>>;
  readonly trace: readonly string[];
}

/** So much happens around the fans while they buy. */
const HAPPENINGS = 12;

/** One sale, from the first fan to an empty house, in the order of this seed. */
export async function simulate(seed: number, day: Day = {}): Promise<Run> {
  const { protections = ALL_PROTECTIONS, style, isTold = false } = day;
  const trace: string[] = [];
  const scheduler = new Scheduler(seed, isTold ? (line) => trace.push(line) : undefined);
  const { random } = scheduler;
  const shop = new Shop(
    scheduler,
    protections,
    [...STYLES, REFUSED_AND_FREE].find(({ name }) => name === style) ?? random.pick(STYLES),
  );
  const faults: string[] = [];
  const report = (fault: string): void => {
    if (faults.includes(fault)) return;
    faults.push(fault);
    scheduler.say(scheduler.current, `FAULT ${fault}`);
  };
  const saw = { crashes: 0, freezes: 0, 'sales closed': 0 };
  shop.db.committed.push((tx) => [...faultsNow(shop), ...lateInAClosedSale(shop, tx)].forEach(report));
  shop.db.waited.push((tx, cell) => waitsThatShouldNot(tx, cell).forEach(report));
  scheduler.spawn('day', undefined, async () => {
    const desk = new PaymentSimulator(shop, report);
    const fans = Array.from(
      { length: random.between(2, shop.style.mostFans) },
      (_, index) => new Fan(shop, desk, `fan${index + 1}`, report),
    );
    const tasks = fans.map((fan) => scheduler.spawn(fan.userId, undefined, () => fan.comeAndBuy()));
    const house = scheduler.spawn('house', undefined, () => keepHouse(shop, saw));
    for (const task of [...tasks, house]) {
      await scheduler.finished(task);
      if (task.error) report(`the simulation itself: ${task.name}: ${task.error instanceof Error ? task.error.stack : ''}`);
    }
    await closeUp(shop, desk);
    faultsInTheEnd(shop).forEach(report);
  });
  try {
    await scheduler.run();
  } catch (error) {
    report(`I12: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { steps, fingerprint } = scheduler;
  return {
    seed,
    faults,
    steps,
    interleaving: fingerprint,
    saw: { ...saw, ...shop.transactions.seen, ...whatHappened(shop) },
    trace,
  };
}

/** Schedulers and readers come by, processes die, stop and come back, the sale is paused and closed. */
async function keepHouse(shop: Shop, saw: Record<'crashes' | 'freezes' | 'sales closed', number>): Promise<void> {
  const { scheduler, replicas } = shop;
  const { random } = scheduler;
  let isClosed = false;
  const mayCrash = random.chance(0.5);
  for (let happening = 0; happening < HAPPENINGS; happening += 1) {
    if (random.chance(shop.style.lastMoment)) await scheduler.sleepUntil(scheduler.nextMoment());
    else await scheduler.sleep(random.pick([0, 1, random.int(HOLD_MS), HOLD_MS]));
    const { sweeps, freezes } = shop.style;
    const other = random.chance(freezes / (1 - sweeps))
      ? 'freeze'
      : random.pick(['read', 'read', 'relay', 'relay', 'crash', 'sale', 'close']);
    const what = random.chance(sweeps) ? 'sweep' : other;
    const replica = shop.any();
    if (what === 'sweep') scheduler.spawn('sweeper', replica, () => replica.expireReservations.execute());
    else if (what === 'read') scheduler.spawn('reader', replica, () => replica.followWaitingRoom.execute(MATCH));
    else if (what === 'relay') scheduler.spawn('relay', replica, () => relay(shop));
    else if (what === 'sale' && !isClosed) await setSale(shop, random.pick(['open', 'paused']));
    else if (what === 'freeze') {
      saw.freezes += 1;
      replica.frozenUntil = scheduler.nowMs + random.pick([2, 5, HOLD_MS, 2 * HOLD_MS]);
    } else if (what === 'crash' && mayCrash && replicas.length > 1) {
      saw.crashes += 1;
      shop.crash(replica);
      shop.start();
    } else if (what === 'close' && random.chance(0.2)) {
      saw['sales closed'] += 1;
      isClosed = true;
      await setSale(shop, 'closed');
    }
  }
}

async function setSale(shop: Shop, saleStatus: 'open' | 'paused' | 'closed'): Promise<void> {
  const tx = shop.db.begin('read committed');
  await tx.statement(`the sale is ${saleStatus}`);
  await tx.change(tables.matches, MATCH, { saleStatus });
  await tx.commit();
  shop.closedAtSeq = saleStatus === 'closed' ? Math.min(shop.closedAtSeq, shop.db.seq) : Number.POSITIVE_INFINITY;
}

/** What our commits decided is done at the provider, at least once. */
export async function relay(shop: Shop): Promise<void> {
  for (const { id, payment } of shop.db.rows(tables.outbox)) {
    if (!payment || shop.db.read(tables.delivered, id)) continue;
    await shop.scheduler.step(`tells the provider to ${payment.kind} ${payment.intentId}`);
    shop.payments.carryOut(payment);
    const tx = shop.db.begin('read committed');
    await tx.statement(`message ${id} is delivered`);
    await tx.put(tables.delivered, id, { id });
    await tx.commit();
  }
}

/** Everybody has gone; every event is heard, every hold is over, the schedulers come by once more. */
async function closeUp(shop: Shop, desk: PaymentSimulator): Promise<void> {
  const { scheduler } = shop;
  await scheduler.until('waits for the last event', () => desk.isQuiet);
  await scheduler.sleep(4 * HOLD_MS);
  const replica = shop.any();
  replica.frozenUntil = 0;
  const duties = [() => replica.expireReservations.execute(), () => replica.followWaitingRoom.execute(MATCH), () => relay(shop)];
  for (const duty of duties) {
    const task = await scheduler.finished(scheduler.spawn('last round', replica, duty));
    if (task.error) throw task.error;
  }
}

function whatHappened(shop: Shop): Record<string, number> {
  const { db } = shop;
  const of = (status: string): number => db.rows(tables.orders, (order) => order.status === status).length;
  const expired = db.rows(tables.reservations, ({ status }) => status === 'expired').length;
  const released = db.rows(tables.reservations, ({ status }) => status === 'released').length;
  const orders = {
    completed: of('completed'),
    refunded: of('refunded'),
    cancelled: of('cancelled'),
    'expired orders': of('expired'),
    ...(shop.style.refuses ? { 'refused payments': shop.payments.refused, 'free orders': freeOrders(shop) } : {}),
  };
  return { ...orders, expired, released, commits: db.commits, refusals: db.refusals };
}

function freeOrders({ db }: Shop): number {
  return db.rows(tables.orders, ({ status, totalCents }) => status === 'completed' && totalCents === 0).length;
}
