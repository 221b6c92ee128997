import { waitAtMost } from './wait-at-most.ts';

const never = new Promise<string>(() => undefined);

test.each([
  ['resolves like the work', Promise.resolve('done'), 'done'],
  ['resolves to the other value after the time limit', never, 'too late'],
])('waitAtMost: %s', async (_name, work, expected) => {
  expect(await waitAtMost(20, work, 'too late')).toBe(expected);
});

test('waitAtMost: rejects like the work', async () => {
  await expect(waitAtMost(20, Promise.reject(new Error('broken')), 'too late')).rejects.toThrow('broken');
});

test('waitAtMost: leaves no timer when the work has ended', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await waitAtMost(60_000, Promise.resolve(), undefined);
  expect(timers()).toBe(before);
});
