import { DomainError } from '#domain/shared/domain-error';
import { Scheduler } from '#testing/simulation/scheduler';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { MAX_DEPTH } from '../../apps/monolith/src/quota/tree/quota.ts';
import { PaymentSimulator } from './payment-simulator.ts';
import { Fan } from './fans.ts';
import { faultsAtEnd, faultsNow, holdsInCooldown, lateCompletionInClosedSale, forbiddenWaits } from './invariants.ts';
import { ALL_PROTECTIONS, HOLD_MS, MATCH_ID, SimulatedSystem, type Protections, type Replica } from './replicas.ts';
import { InvitedFan } from './invited-fan.ts';
import { countQuotaEvents, returnFaults } from './quota-invariants.ts';
import { Operator, Partner } from './quota-staff.ts';
import { QUOTAS, RARELY_PAID, REFUSED_AND_FREE, STYLES } from './styles.ts';

/** Options of a simulated sale: protections that are on, style of the fans, and whether to record a trace. */
export interface SimulationOptions {
  readonly protections?: Protections;
  /** Name of a simulation style (styles.ts). By default the seed chooses a style. */
  readonly style?: string;
  /** Record every step in `trace`. */
  readonly withTrace?: boolean;
}

/** The result of one simulated sale. `faults` are the broken invariants. */
export interface SimulatedSale {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly steps: number;
  /** Hash of the order of the steps: equal for two sales with the same steps. */
  readonly interleaving: number;
  /** Number of events of each kind, such as orders. Shows whether many sales together cover all kinds. */
  readonly eventCounts: Readonly<Record<string, number>>;
  readonly trace: readonly string[];
}

/** Number of background events, such as sweeps and crashes, while the fans buy. */
const BACKGROUND_EVENTS = 12;

/** Simulates one sale. The seed decides the order of all steps. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<SimulatedSale> {
  const { protections = ALL_PROTECTIONS, style, withTrace = false } = options;
  const trace: string[] = [];
  const scheduler = new Scheduler(seed, withTrace ? (line) => trace.push(line) : undefined);
  const { random } = scheduler;
  const system = new SimulatedSystem(
    scheduler,
    protections,
    [...STYLES, REFUSED_AND_FREE, RARELY_PAID, QUOTAS].find(({ name }) => name === style) ?? random.pick(STYLES),
  );
  const faults: string[] = [];
  const report = (fault: string): void => {
    if (faults.includes(fault)) return;
    faults.push(fault);
    scheduler.say(scheduler.current, `FAULT ${fault}`);
  };
  const backgroundCounts = { crashes: 0, freezes: 0, 'sales closed': 0 };
  system.db.committed.push((tx) =>
    [
      ...faultsNow(system),
      ...lateCompletionInClosedSale(system, tx),
      ...returnFaults(system, tx),
      ...holdsInCooldown(system, tx),
    ].forEach(report),
  );
  system.db.waited.push((tx, cell) => forbiddenWaits(tx, cell).forEach(report));
  scheduler.spawn('sale', undefined, async () => {
    const paymentSimulator = new PaymentSimulator(system, report);
    const fans = Array.from(
      { length: random.between(2, system.style.maxFans) },
      (_, index) => new Fan(system, paymentSimulator, `fan${index + 1}`, report),
    );
    const invited = system.style.quotas ? quotaCallers(system, paymentSimulator, report) : [];
    const tasks = [...fans, ...invited].map((caller) => scheduler.spawn(caller.userId, undefined, () => caller.run()));
    const background = scheduler.spawn('background', undefined, () => runBackground(system, backgroundCounts, report));
    for (const task of [...tasks, background]) {
      await scheduler.finished(task);
      if (task.error) report(`fault in the simulation: ${task.name}: ${task.error instanceof Error ? task.error.stack : ''}`);
    }
    await finishSale(system, paymentSimulator);
    faultsAtEnd(system).forEach(report);
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
    eventCounts: { ...backgroundCounts, ...system.transactions.seen, ...countEvents(system) },
    trace,
  };
}

/** For negative controls: the first fault that matches, in sales with the seeds from 1 on. */
export async function firstFault(options: SimulationOptions, expected: RegExp, maxRuns: number): Promise<string> {
  for (let seed = 1; seed <= maxRuns; seed += 1) {
    const fault = (await simulate(seed, options)).faults.find((text) => expected.test(text));
    if (fault) return fault;
  }
  return `no such fault in ${maxRuns} runs`;
}

/** Two operators, a partner, and fans who open links of invitations. */
function quotaCallers(
  system: SimulatedSystem,
  paymentSimulator: PaymentSimulator,
  report: (fault: string) => void,
): readonly (InvitedFan | Operator | Partner)[] {
  const guests = Array.from({ length: system.scheduler.random.between(1, 3) }, (_, index) => `guest${index + 1}`);
  return [
    ...['operator1', 'operator2'].map((userId) => new Operator(system, userId, report)),
    new Partner(system, 'partner', report),
    ...guests.map((userId) => new InvitedFan(system, paymentSimulator, userId, report)),
  ];
}

/**
 * Runs the background events: the expiry sweeper, the reader of the waiting room's events, the outbox relay, processes that freeze,
 * crash and restart, a paused or closed sale. With quotas, a sale that closes is that of a cancelled match.
 */
async function runBackground(
  system: SimulatedSystem,
  counts: Record<'crashes' | 'freezes' | 'sales closed', number>,
  report: (fault: string) => void,
): Promise<void> {
  const { scheduler, replicas } = system;
  const { random } = scheduler;
  let isClosed = false;
  const mayCrash = random.chance(0.5);
  for (let index = 0; index < BACKGROUND_EVENTS; index += 1) {
    if (random.chance(system.style.lastMoment)) await scheduler.sleepUntil(scheduler.nextExpiry());
    else await scheduler.sleep(random.pick([0, 1, random.int(HOLD_MS), HOLD_MS]));
    const { sweeps, freezes } = system.style;
    const otherEvent = random.chance(freezes / (1 - sweeps))
      ? 'freeze'
      : random.pick(['read', 'read', 'relay', 'relay', 'crash', 'sale', 'close']);
    const ordinary = random.chance(sweeps) ? 'sweep' : otherEvent;
    const event = system.style.quotas && random.chance(0.4) ? 'deadlines' : ordinary;
    const replica = system.anyReplica();
    if (event === 'sweep') scheduler.spawn('sweeper', replica, () => replica.expireReservations.execute());
    else if (event === 'deadlines') scheduler.spawn('deadlines', replica, () => keepDeadlines(replica, report));
    else if (event === 'read') scheduler.spawn('reader', replica, () => replica.followWaitingRoom.execute(MATCH_ID));
    else if (event === 'relay') scheduler.spawn('relay', replica, () => deliverOutbox(system));
    else if (event === 'sale' && !isClosed) await setSale(system, random.pick(['open', 'paused']));
    else if (event === 'freeze') {
      counts.freezes += 1;
      replica.frozenUntil = scheduler.nowMs + random.pick([2, 5, HOLD_MS, 2 * HOLD_MS]);
    } else if (event === 'crash' && mayCrash && replicas.length > 1) {
      counts.crashes += 1;
      system.crash(replica);
      system.start();
    } else if (event === 'close' && random.chance(0.2)) {
      counts['sales closed'] += 1;
      isClosed = true;
      await setSale(system, 'closed');
    }
  }
}

/** A run may end with LOCK_TIMEOUT, because there is a next one. Any other error is a fault. */
async function keepDeadlines(replica: Replica, report: (fault: string) => void): Promise<void> {
  try {
    await replica.keepDeadlines();
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'LOCK_TIMEOUT')) report(`I13: deadlines: ${String(error)}`);
  }
}

async function setSale(system: SimulatedSystem, saleStatus: 'open' | 'paused' | 'closed'): Promise<void> {
  const tx = system.db.begin('read committed');
  await tx.statement(`the sale is ${saleStatus}`);
  const cancels = saleStatus === 'closed' && system.style.quotas;
  await tx.change(tables.matches, MATCH_ID, { saleStatus, ...(cancels ? { cancelledAt: system.scheduler.now() } : {}) });
  await tx.commit();
  system.closedAtSeq = saleStatus === 'closed' ? Math.min(system.closedAtSeq, system.db.seq) : Number.POSITIVE_INFINITY;
}

/** Delivers the payment commands in the outbox to the payment provider, each at least once. */
export async function deliverOutbox(system: SimulatedSystem): Promise<void> {
  for (const { id, payment } of system.db.rows(tables.outbox)) {
    if (!payment || system.db.read(tables.delivered, id)) continue;
    await (payment.kind === 'refund' ? system.payments.refund(payment) : system.payments.cancel(payment.intentId));
    const tx = system.db.begin('read committed');
    await tx.statement(`message ${id} is delivered`);
    await tx.put(tables.delivered, id, { id });
    await tx.commit();
  }
}

/**
 * Ends a sale when all fans are done: waits for all payment events and the expiry of all holds. Then runs the expiry sweeper, the
 * reader of the waiting room's events and the outbox relay once more.
 */
async function finishSale(system: SimulatedSystem, paymentSimulator: PaymentSimulator): Promise<void> {
  const { scheduler } = system;
  await scheduler.until('waits for the last event', () => paymentSimulator.isIdle);
  await scheduler.sleep(4 * HOLD_MS);
  const replica = system.anyReplica();
  replica.frozenUntil = 0;
  // No deadline passes between the last runs and the checks.
  scheduler.clockRate = 0;
  const lastRuns = [
    () => replica.expireReservations.execute(),
    () => replica.followWaitingRoom.execute(MATCH_ID),
    // Each run takes free places one level up, from a returned quota to its parent that has returned too.
    ...(system.style.quotas ? Array.from({ length: MAX_DEPTH }, () => () => replica.keepDeadlines()) : []),
    () => deliverOutbox(system),
  ];
  for (const run of lastRuns) {
    const task = await scheduler.finished(scheduler.spawn('last run', replica, run));
    if (task.error) throw task.error;
  }
}

function countEvents(system: SimulatedSystem): Record<string, number> {
  const { db } = system;
  const countOrders = (status: string): number => db.rows(tables.orders, (order) => order.status === status).length;
  const expired = db.rows(tables.reservations, ({ status }) => status === 'expired').length;
  const released = db.rows(tables.reservations, ({ status }) => status === 'released').length;
  const orders = {
    completed: countOrders('completed'),
    refunded: countOrders('refunded'),
    cancelled: countOrders('cancelled'),
    'expired orders': countOrders('expired'),
    ...(system.style.refuses ? { 'refused payments': system.payments.refused, 'free orders': freeOrders(system) } : {}),
  };
  const quotas = system.style.quotas ? countQuotaEvents(system) : {};
  return { ...orders, ...quotas, expired, released, commits: db.commits, refusals: db.refusals };
}

function freeOrders({ db }: SimulatedSystem): number {
  return db.rows(tables.orders, ({ status, totalCents }) => status === 'completed' && totalCents === 0).length;
}
