import { simulate } from './simulate.ts';
import { REFUSED_AND_FREE } from './styles.ts';

const SEEDS = 600;

test('simulated sales in which the provider refuses payment intents and standing places are free of charge: all invariants hold', async () => {
  const broken: string[] = [];
  const eventCounts: Record<string, number> = {};
  for (let seed = 1; seed <= SEEDS && broken.length === 0; seed += 1) {
    const run = await simulate(seed, { style: REFUSED_AND_FREE.name });
    if (run.faults.length > 0) broken.push(`seed ${seed}: ${run.faults.join('; ')}`);
    for (const [event, count] of Object.entries(run.eventCounts)) eventCounts[event] = (eventCounts[event] ?? 0) + count;
  }
  expect(broken).toEqual([]);
  expect(Object.entries(eventCounts).filter(([, count]) => count === 0)).toEqual([]);
  expect(eventCounts['refused payments']).toBeGreaterThan(SEEDS / 10);
  expect(eventCounts['free orders']).toBeGreaterThan(SEEDS / 10);
});
