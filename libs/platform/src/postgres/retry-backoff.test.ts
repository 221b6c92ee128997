import { backoffMs } from './sqlstates.ts';

test.each([
  { failed: 1, least: 50, most: 150 },
  { failed: 2, least: 100, most: 300 },
  { failed: 3, least: 200, most: 600 },
  { failed: 4, least: 400, most: 1000 },
  { failed: 5, least: 800, most: 1000 },
])('after failed attempt $failed the next one waits $least to $most ms', ({ failed, least, most }) => {
  expect(backoffMs(failed, () => 0)).toBe(least);
  expect(backoffMs(failed, () => 1)).toBe(most);
  expect(backoffMs(failed, () => 0.5)).toBe(Math.min(1000, 50 * 2 ** failed));
});
