import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

test('fails at once', () => {
  expect(1).toBe(2);
});

// The test of `npm test` makes this file when it is shown the failure above.
test('passes if the failure before it is shown while this test runs', async () => {
  for (let tries = 0; tries < 200 && !existsSync(globalThis.shownFile); tries += 1) await sleep(50);
  expect(existsSync(globalThis.shownFile)).toBe(true);
}, 15_000);
