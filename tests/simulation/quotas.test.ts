import { ALL_PROTECTIONS, type Protections } from './replicas.ts';
import { ALL_QUOTA_PROTECTIONS } from './quota-use-cases.ts';
import { simulate } from './simulate.ts';
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
