import { expectedMinutes, schedule } from './run-pairs.ts';

test('schedule: all benchmarks run once per pair, alternating old new and new old; the expected time is the sum of the times of all runs', () => {
  const planned = schedule(['purchase', 'queue'], 2);
  expect(planned.map(({ benchmark, side }) => `${benchmark} ${side}`)).toEqual([
    ...['purchase old', 'purchase new', 'queue old', 'queue new'],
    ...['purchase new', 'purchase old', 'queue new', 'queue old'],
  ]);
  expect(expectedMinutes(planned)).toBe(Math.ceil((4 * 105 + 4 * 55) / 60));
  expect(expectedMinutes(planned, new Map([['queue', 25]]))).toBe(Math.ceil((4 * 105 + 4 * 25) / 60));
});
