import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { SlotList } from './slot-list.ts';

test('SlotList: lists the items that were added and not removed; a later item takes the slot of a removed one', () => {
  const list = new SlotList<string>();
  const [a, b] = [list.add('a'), list.add('b')];
  expect([[...list], list.size]).toEqual([['a', 'b'], 2]);
  list.remove(a);
  expect([[...list], list.size]).toEqual([['b'], 1]);
  expect(list.add('c')).toBe(a);
  list.remove(b);
  expect([[...list], list.size]).toEqual([['c'], 1]);
});

test('SlotList: removed items leave the memory at the next collections of the young generation; those of a Map stay', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  /** Adds 100,000 items, of which 200 are listed at a time. Returns how much memory they take after all are removed. */
  const leftMegabytes = (add: (item: object) => () => void): number => {
    collect();
    const before = process.memoryUsage().heapUsed;
    const listed: (() => void)[] = [];
    for (let count = 0; count < 100_000; count += 1) {
      listed.push(add({ data: Array.from({ length: 20 }).fill(count) }));
      if (listed.length > 200) listed.shift()!();
      if (count % 700 === 0) collect({ type: 'minor' });
    }
    for (const remove of listed) remove();
    for (const _ of [1, 2]) collect({ type: 'minor' });
    return (process.memoryUsage().heapUsed - before) / 1e6;
  };
  const list = new SlotList<object>();
  const map = new Map<object, undefined>();
  const inList = leftMegabytes((item) => {
    const slot = list.add(item);
    return () => list.remove(slot);
  });
  const inMap = leftMegabytes((item) => {
    map.set(item, undefined);
    return () => map.delete(item);
  });
  expect(inList).toBeLessThan(2);
  expect(inMap).toBeGreaterThan(5);
});
