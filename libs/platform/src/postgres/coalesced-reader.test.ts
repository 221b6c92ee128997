import { CoalescedReader } from './coalesced-reader.ts';

function reader(fail = new Set<number>()) {
  const queries: string[][] = [];
  const coalesced = new CoalescedReader(async (keys) => {
    queries.push([...keys]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (fail.has(queries.length)) throw new Error('away');
    return new Map(keys.filter((key) => key !== 'none').map((key) => [key, key.toUpperCase()]));
  });
  return { coalesced, queries };
}

test('who asks alone is answered at once, and whoever asks meanwhile shares the next query', async () => {
  const { coalesced, queries } = reader();
  const answers = await Promise.all(['a', 'b', 'c', 'b', 'none'].map((key) => coalesced.read(key)));
  expect(answers).toEqual(['A', 'B', 'C', 'B', undefined]);
  expect(queries).toEqual([['a'], ['b', 'c', 'none']]);
});

test('a query that fails fails those who shared it, and nobody after them', async () => {
  const { coalesced } = reader(new Set([2]));
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((key) => coalesced.read(key)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await coalesced.read('d')).toBe('D');
});
