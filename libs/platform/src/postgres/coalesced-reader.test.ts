import { CoalescedReader } from './coalesced-reader.ts';

/**
 * Opens a reader whose values are the keys in upper case. The queries with the numbers in `failingQueries` fail. The key `none`
 * has no value.
 */
function openReader(failingQueries = new Set<number>()) {
  const queries: string[][] = [];
  const reader = new CoalescedReader(async (keys) => {
    queries.push([...keys]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (failingQueries.has(queries.length)) throw new Error('database unavailable');
    return new Map(keys.filter((key) => key !== 'none').map((key) => [key, key.toUpperCase()]));
  });
  return { reader, queries };
}

test('CoalescedReader: the first read is sent at once, and reads that arrive during its query share the next query', async () => {
  const { reader, queries } = openReader();
  const answers = await Promise.all(['a', 'b', 'c', 'b', 'none'].map((key) => reader.read(key)));
  expect(answers).toEqual(['A', 'B', 'C', 'B', undefined]);
  expect(queries).toEqual([['a'], ['b', 'c', 'none']]);
});

test('CoalescedReader: a failed query rejects the reads that shared it, and the next read succeeds', async () => {
  const { reader } = openReader(new Set([2]));
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((key) => reader.read(key)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await reader.read('d')).toBe('D');
});
