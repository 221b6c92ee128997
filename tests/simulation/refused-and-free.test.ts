import { simulate } from './simulate.ts';
import { REFUSED_AND_FREE } from './styles.ts';

const SEEDS = 600;

test('days on which the provider refuses intents and places cost nothing: nothing is sold twice, lost or stuck', async () => {
  const broken: string[] = [];
  const saw: Record<string, number> = {};
  for (let seed = 1; seed <= SEEDS && broken.length === 0; seed += 1) {
    const run = await simulate(seed, { style: REFUSED_AND_FREE.name });
    if (run.faults.length > 0) broken.push(`seed ${seed}: ${run.faults.join('; ')}`);
    for (const [what, times] of Object.entries(run.saw)) saw[what] = (saw[what] ?? 0) + times;
  }
  expect(broken).toEqual([]);
  expect(Object.entries(saw).filter(([, times]) => times === 0)).toEqual([]);
  expect(saw['refused payments']).toBeGreaterThan(SEEDS / 10);
  expect(saw['free orders']).toBeGreaterThan(SEEDS / 10);
});
