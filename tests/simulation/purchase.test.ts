import { ALL_QUOTA_PROTECTIONS } from './quota-use-cases.ts';
import { ALL_PROTECTIONS, type Protections } from './replicas.ts';
import { firstFault, simulate, type SimulatedSale } from './simulate.ts';
import { RARELY_PAID, STYLES } from './styles.ts';

// Number of simulated sales. `npm run test:simulation -- --seeds 20000` runs more, and `-- --seed 4711` prints every step of one sale.
const SEEDS = 2500;
const MIN_SEEDS = 400;
/** After this time no further sale is started, so a busy machine simulates fewer sales. */
const BUDGET_MS = 8000;

const LAST_MILLISECOND = 'the last millisecond';
const BUSY_TURN = 'much in one turn';

const describeFaults = ({ seed, faults }: SimulatedSale): string =>
  `npm run test:simulation -- --seed ${seed}: ${faults.join('; ')}`;

test(`up to ${SEEDS} simulated sales, each with a different order of steps: all invariants hold after every commit and at the end`, async () => {
  const endsAt = Date.now() + BUDGET_MS;
  const interleavings = new Set<number>();
  const eventCounts: Record<string, number> = {};
  const broken: string[] = [];
  let seed = 0;
  while (broken.length === 0 && seed < SEEDS && (seed < MIN_SEEDS || Date.now() < endsAt)) {
    seed += 1;
    const run = await simulate(seed);
    if (run.faults.length > 0) broken.push(describeFaults(run));
    interleavings.add(run.interleaving);
    for (const [event, count] of Object.entries(run.eventCounts)) eventCounts[event] = (eventCounts[event] ?? 0) + count;
  }
  expect(broken).toEqual([]);
  expect(interleavings.size).toBeGreaterThan(seed * 0.99);
  // Every kind of event must have happened: a simulation in which little happens would find no fault either.
  expect(Object.entries(eventCounts).filter(([, count]) => count === 0)).toEqual([]);
});

test('two simulated sales with the same seed have the same steps and the same result', async () => {
  const [first, second] = [await simulate(7, { withTrace: true }), await simulate(7, { withTrace: true })];
  expect(first.trace.length).toBeGreaterThan(50);
  expect(second).toEqual(first);
  expect((await simulate(8)).interleaving).not.toBe(first.interleaving);
});

/** A negative control must find its fault within this number of simulated sales. */
const MAX_RUNS = 4000;

describe('the simulation finds a broken invariant if a protection is off', () => {
  interface Control {
    readonly name: string;
    readonly off: Partial<Protections>;
    readonly fault: RegExp;
    /** Name of a simulation style (styles.ts) in which the fault occurs sooner. */
    readonly style?: string;
  }
  const overLimit = /^I2: fan\d match has \d seats/;
  const controls: Control[] = [
    {
      name: 'without conflict detection a seat is sold twice',
      off: { conflictDetection: false },
      fault: /^I1: a seat has two tickets/,
    },
    {
      name: 'without a check of the seats in the database, a stale snapshot gives away seats that others hold',
      off: { seatGuard: false },
      fault: /^I1: .* has lost seat/,
    },
    {
      name: 'if holds expire by a process clock that is ahead, a living hold loses its seat',
      off: { databaseClock: false },
      fault: /^I1: (held|ordered) .* has lost seat/,
    },
    {
      name: 'without the idempotency row a repeated request is executed twice',
      off: { idempotencyRow: false },
      fault: /^I5: one key made two/,
    },
    {
      name: 'if a shared transaction does not store its answers, a repeated request gets another answer',
      off: { batchesAnswer: false },
      fault: /^I5: .* was answered .*, then/,
    },
    {
      name: 'if a batch does not skip locked rows, all its requests wait',
      off: { skipsLocked: false },
      fault: /^W: .* is a shared transaction and waits for/,
    },
    { name: 'without the revision of the fan row a fan exceeds the limit', off: { fanRevision: false }, fault: overLimit },
    {
      name: 'without the cooldown a fan holds seats again and again',
      off: { holdCooldown: false },
      fault: /^C: .* was held in a cooldown/,
      style: RARELY_PAID.name,
    },
    {
      name: 'if a late payment does not check the limit, a fan exceeds it',
      off: { latePaymentLimit: false },
      fault: overLimit,
      style: LAST_MILLISECOND,
    },
    {
      name: 'without the unique index on windows two orders are made in one turn',
      off: { oneOrderAWindow: false },
      fault: /^I11: two orders of one window/,
      style: BUSY_TURN,
    },
    // Without the inbox, a repeated event about a successful payment changes nothing, because its order is already completed. A
    // repeated event about a refused card adds a second entry to the timeline of its order.
    {
      name: 'without the inbox an event of the provider counts twice',
      off: { paymentInbox: false },
      fault: /^I6: .* refused for .* noted/,
    },
    {
      name: 'if the expiry sweeper locks no rows, reservation.expired is sent twice',
      off: { sweeperLocks: false },
      fault: /^I6: reservation.expired twice/,
    },
    {
      name: 'if the expiry sweeper does not read again after locking, an order awaits its payment for ever',
      off: { sweeperReadsAgain: false },
      fault: /^I12: order .* still awaits/,
      style: LAST_MILLISECOND,
    },
    {
      name: 'if the stream cursor is moved without a comparison, the push of a turn is sent twice',
      off: { cursorCompares: false },
      fault: /^I6: twice: queue.turn/,
    },
    {
      name: 'with REPEATABLE READ, and payments that do not change the fan row, a hold is made in a used turn',
      off: { serializable: false, singlePaymentCounts: false },
      fault: /^I11: .* is held in .*, whose order is completed/,
      style: BUSY_TURN,
    },
    {
      name: 'with REPEATABLE READ, and shared payments that do not change the fan row, a hold is made in a used turn',
      off: { serializable: false, batchedPaymentCounts: false },
      fault: /^I11: .* is held in .*, whose order is completed/,
      style: BUSY_TURN,
    },
  ];

  test.each(controls)('negative control: $name', async ({ off, fault, style }) => {
    const protections = { ...ALL_PROTECTIONS, ...off };
    expect(await firstFault({ protections, ...(style ? { style } : {}) }, fault, MAX_RUNS)).toMatch(fault);
  });

  test('each protection in ALL_PROTECTIONS has a negative control', () => {
    const controlled = new Set(controls.flatMap(({ off }) => Object.keys(off)));
    // The fault of this protection needs a payment that begins before its hold expires and reads after the expiry. last-moment.test.ts
    // causes such a payment.
    controlled.add('batchedPaymentChecksFan');
    // Those of quotas are in quotas.test.ts.
    const ofQuotas = Object.keys(ALL_QUOTA_PROTECTIONS);
    expect(new Set([...controlled, ...ofQuotas])).toEqual(new Set(Object.keys(ALL_PROTECTIONS)));
    expect(STYLES.map(({ name }) => name)).toEqual(expect.arrayContaining([LAST_MILLISECOND, BUSY_TURN]));
  });
});
