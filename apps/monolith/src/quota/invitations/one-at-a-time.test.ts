import { setImmediate } from 'node:timers/promises';
import { OneAtATime } from './one-at-a-time.ts';

test('calls for a key never overlap, keep their order and get their own results, also after one that failed', async () => {
  const calls = new OneAtATime();
  const log: string[] = [];
  const call = (key: string, name: string) =>
    calls.run(key, async () => {
      log.push(`${name} begins`);
      await setImmediate();
      log.push(`${name} ends`);
      if (name === 'b') throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([call('1', 'a'), call('1', 'b'), call('1', 'c'), call('2', 'other')]);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)))).toEqual([
    'a',
    'Error: b',
    'c',
    'other',
  ]);
  const ofKey = log.filter((line) => !line.startsWith('other'));
  expect(ofKey).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  expect(log.indexOf('other begins')).toBeLessThan(log.indexOf('a ends'));
});
