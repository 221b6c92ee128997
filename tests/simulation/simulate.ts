import { Scheduler } from '#testing/simulation/scheduler';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { PaymentSimulator } from './payment-simulator.ts';
import { Fan } from './fans.ts';
import { faultsAtEnd, faultsNow, lateCompletionInClosedSale, forbiddenWaits } from './invariants.ts';
import { ALL_PROTECTIONS, HOLD_MS, MATCH, Shop, type Protections } from './replicas.ts';
import { REFUSED_AND_FREE, STYLES } from './styles.ts';

export interface SimulationOptions {
  readonly protections?: Protections;
  /** Name of a style. By default the seed chooses one. */
  readonly style?: string;
  /** Record every step in `trace`. */
  readonly withTrace?: boolean;
}

export interface Run {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly steps: number;
  /** Hash of the order of the steps. */
  readonly interleaving: number;
  /** Number of events of each kind. Shows whether many seeds together cover all kinds. */
  readonly eventCounts: Readonly<Record<string, number>>;
  readonly trace: readonly string[];
}

/** Number of background events, such as sweeps and crashes, while the fans buy. */
const BACKGROUND_EVENTS = 12;

/** Simulates one sale. The seed decides the order of all steps. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Run> {
  const { protections = ALL_PROTECTIONS, style, withTrace = false } = options;
  const trace: string[] = [];
  const scheduler = new Scheduler(seed, withTrace ? (line) => trace.push(line) : undefined);
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
  const backgroundCounts = { crashes: 0, freezes: 0, 'sales closed': 0 };
  shop.db.committed.push((tx) => [...faultsNow(shop), ...lateCompletionInClosedSale(shop, tx)].forEach(report));
  shop.db.waited.push((tx, cell) => forbiddenWaits(tx, cell).forEach(report));
  scheduler.spawn('sale', undefined, async () => {
    const paymentSimulator = new PaymentSimulator(shop, report);
    const fans = Array.from(
      { length: random.between(2, shop.style.maxFans) },
      (_, index) => new Fan(shop, paymentSimulator, `fan${index + 1}`, report),
    );
    const tasks = fans.map((fan) => scheduler.spawn(fan.userId, undefined, () => fan.run()));
    const background = scheduler.spawn('background', undefined, () => runBackground(shop, backgroundCounts));
    for (const task of [...tasks, background]) {
      await scheduler.finished(task);
      if (task.error) report(`fault in the simulation: ${task.name}: ${task.error instanceof Error ? task.error.stack : ''}`);
    }
    await finishSale(shop, paymentSimulator);
    faultsAtEnd(shop).forEach(report);
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
    eventCounts: { ...backgroundCounts, ...shop.transactions.seen, ...countEvents(shop) },
    trace,
  };
}

/** Background events: sweepers, stream readers and relays run, processes freeze, crash and restart, the sale is paused and closed. */
async function runBackground(shop: Shop, counts: Record<'crashes' | 'freezes' | 'sales closed', number>): Promise<void> {
  const { scheduler, replicas } = shop;
  const { random } = scheduler;
  let isClosed = false;
  const mayCrash = random.chance(0.5);
  for (let index = 0; index < BACKGROUND_EVENTS; index += 1) {
    if (random.chance(shop.style.lastMoment)) await scheduler.sleepUntil(scheduler.nextMoment());
    else await scheduler.sleep(random.pick([0, 1, random.int(HOLD_MS), HOLD_MS]));
    const { sweeps, freezes } = shop.style;
    const otherEvent = random.chance(freezes / (1 - sweeps))
      ? 'freeze'
      : random.pick(['read', 'read', 'relay', 'relay', 'crash', 'sale', 'close']);
    const event = random.chance(sweeps) ? 'sweep' : otherEvent;
    const replica = shop.anyReplica();
    if (event === 'sweep') scheduler.spawn('sweeper', replica, () => replica.expireReservations.execute());
    else if (event === 'read') scheduler.spawn('reader', replica, () => replica.followWaitingRoom.execute(MATCH));
    else if (event === 'relay') scheduler.spawn('relay', replica, () => relay(shop));
    else if (event === 'sale' && !isClosed) await setSale(shop, random.pick(['open', 'paused']));
    else if (event === 'freeze') {
      counts.freezes += 1;
      replica.frozenUntil = scheduler.nowMs + random.pick([2, 5, HOLD_MS, 2 * HOLD_MS]);
    } else if (event === 'crash' && mayCrash && replicas.length > 1) {
      counts.crashes += 1;
      shop.crash(replica);
      shop.start();
    } else if (event === 'close' && random.chance(0.2)) {
      counts['sales closed'] += 1;
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

/** Delivers payment commands from the outbox to the provider, at least once. */
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

/** When all fans are done: waits for all payment events and the expiry of all holds, then runs the schedulers once more. */
async function finishSale(shop: Shop, paymentSimulator: PaymentSimulator): Promise<void> {
  const { scheduler } = shop;
  await scheduler.until('waits for the last event', () => paymentSimulator.isIdle);
  await scheduler.sleep(4 * HOLD_MS);
  const replica = shop.anyReplica();
  replica.frozenUntil = 0;
  const lastRuns = [
    () => replica.expireReservations.execute(),
    () => replica.followWaitingRoom.execute(MATCH),
    () => relay(shop),
  ];
  for (const run of lastRuns) {
    const task = await scheduler.finished(scheduler.spawn('last run', replica, run));
    if (task.error) throw task.error;
  }
}

function countEvents(shop: Shop): Record<string, number> {
  const { db } = shop;
  const countOrders = (status: string): number => db.rows(tables.orders, (order) => order.status === status).length;
  const expired = db.rows(tables.reservations, ({ status }) => status === 'expired').length;
  const released = db.rows(tables.reservations, ({ status }) => status === 'released').length;
  const orders = {
    completed: countOrders('completed'),
    refunded: countOrders('refunded'),
    cancelled: countOrders('cancelled'),
    'expired orders': countOrders('expired'),
    ...(shop.style.refuses ? { 'refused payments': shop.payments.refused, 'free orders': freeOrders(shop) } : {}),
  };
  return { ...orders, expired, released, commits: db.commits, refusals: db.refusals };
}

function freeOrders({ db }: Shop): number {
  return db.rows(tables.orders, ({ status, totalCents }) => status === 'completed' && totalCents === 0).length;
}
