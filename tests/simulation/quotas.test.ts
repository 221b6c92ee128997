import { ALL_PROTECTIONS, type Protections } from './replicas.ts';
import { ALL_QUOTA_PROTECTIONS } from './quota-use-cases.ts';
import { firstFault, simulate } from './simulate.ts';
import { QUOTAS } from './styles.ts';

const SEEDS = 600;
const MIN_SEEDS = 200;
/** After this time no further sale is started, so a busy machine simulates fewer sales. */
const BUDGET_MS = 8000;

test(`up to ${SEEDS} simulated sales with quotas: all invariants hold after every commit and at the end`, async () => {
  const endsAt = Date.now() + BUDGET_MS;
  const broken: string[] = [];
  const eventCounts: Record<string, number> = {};
  for (let seed = 1; seed <= SEEDS && broken.length === 0 && (seed <= MIN_SEEDS || Date.now() < endsAt); seed += 1) {
    const run = await simulate(seed, { style: QUOTAS.name });
    if (run.faults.length > 0) broken.push(`--style quotas --seed ${seed}: ${run.faults.join('; ')}`);
    for (const [event, count] of Object.entries(run.eventCounts)) eventCounts[event] = (eventCounts[event] ?? 0) + count;
  }
  expect(broken).toEqual([]);
  // Every kind of event must have happened: a simulation in which little happens would find no fault either.
  expect(Object.entries(eventCounts).filter(([, count]) => count === 0)).toEqual([]);
});

test('two simulated sales with quotas and the same seed have the same steps and the same result', async () => {
  const options = { style: QUOTAS.name, withTrace: true };
  const [first, second] = [await simulate(7, options), await simulate(7, options)];
  expect(first.trace.length).toBeGreaterThan(50);
  expect(second).toEqual(first);
});

/** A negative control must find its fault within this number of simulated sales. */
const MAX_RUNS = 4000;

describe('the simulation finds a broken invariant of quotas if a protection is off', () => {
  const controls: readonly { readonly name: string; readonly off: Partial<Protections>; readonly fault: RegExp }[] = [
    {
      name: 'if a move takes places that are not free, a fan loses a claimed place',
      off: { movesOnlyFree: false },
      fault: /^(I1|Q4): /,
    },
    {
      name: 'if a bound place is bound again, two invitations have it',
      off: { bindsOnlyUnbound: false },
      fault: /^Q2: .* is not bound to open/,
    },
    {
      name: 'if the ledger is written in a second transaction, it differs from the places',
      off: { ledgerInTransaction: false },
      fault: /^Q1: /,
    },
    {
      name: 'if quotas are not locked, places are moved into a quota after its return',
      off: { locksQuotas: false },
      fault: /^Q6: .* has returned its places/,
    },
    {
      name: 'without conflict detection two fans hold the places of one invitation',
      off: { conflictDetection: false },
      fault: /^Q5: .* 0 paid and 2 living claims/,
    },
    {
      name: 'without conflict detection two moves take the same place',
      off: { conflictDetection: false },
      fault: /^Q1: .* which did not have it/,
    },
    {
      name: 'if the end of an invitation does not see holds, a fan loses the places during a checkout',
      off: { endsSeeHolds: false },
      fault: /^Q5: .* a fan holds its places/,
    },
    {
      name: 'if places of quotas are freed for the public, they are for sale',
      off: { freesInQuota: false },
      fault: /^Q3: .* is for sale to the public/,
    },
    {
      name: 'if a late payment does not look at the binding, it buys places that the invitation lost',
      off: { latePaymentSeesBinding: false },
      fault: /^(Q4|Q5): /,
    },
  ];

  test.each(controls)('negative control: $name', async ({ off, fault }) => {
    const protections = { ...ALL_PROTECTIONS, ...off };
    expect(await firstFault({ style: QUOTAS.name, protections }, fault, MAX_RUNS)).toMatch(fault);
  });

  test('each protection of quotas has a negative control', () => {
    const controlled = new Set(controls.flatMap(({ off }) => Object.keys(off)));
    expect(controlled).toEqual(new Set([...Object.keys(ALL_QUOTA_PROTECTIONS), 'conflictDetection']));
  });
});
