import { simulate } from './simulate.ts';
import { RARELY_PAID } from './styles.ts';

const SEEDS = 400;

test('simulated sales in which fans rarely pay: nobody holds seats in a cooldown, and all invariants hold', async () => {
  const broken: string[] = [];
  let refused = 0;
  for (let seed = 1; seed <= SEEDS && broken.length === 0; seed += 1) {
    const run = await simulate(seed, { style: RARELY_PAID.name, withTrace: true });
    if (run.faults.length > 0) broken.push(`seed ${seed}: ${run.faults.join('; ')}`);
    refused += run.trace.filter((line) => line.includes('HOLD_COOLDOWN')).length;
  }
  expect(broken).toEqual([]);
  expect(refused).toBeGreaterThan(SEEDS / 10);
});
