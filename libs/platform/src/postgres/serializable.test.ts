import { backoffMs } from './serializable.ts';

test.each([
  { failed: 1, min: 50, max: 150 },
  { failed: 2, min: 100, max: 300 },
  { failed: 3, min: 200, max: 600 },
  { failed: 4, min: 400, max: 1000 },
  { failed: 5, min: 800, max: 1000 },
])('after $failed failed attempts of a transaction the next attempt waits $min to $max ms', ({ failed, min, max }) => {
  expect(backoffMs(failed, () => 0)).toBe(min);
  expect(backoffMs(failed, () => 1)).toBe(max);
  expect(backoffMs(failed, () => 0.5)).toBe(Math.min(1000, 50 * 2 ** failed));
});
