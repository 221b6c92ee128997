import { requestContext } from './logging/request-context.ts';
import { KeyedBatcher } from './keyed-batcher.ts';

/** Opens a batcher and records its batches. A batch does not end until the test calls `finishBatch`. */
function setUp(maxConcurrentBatches = 1) {
  const batches: string[][] = [];
  const deadlines: (number | undefined)[] = [];
  const releases: (() => void)[] = [];
  const together = new KeyedBatcher<string, string>(
    (item) => item.slice(0, 1),
    async (items) => {
      batches.push([...items]);
      deadlines.push(requestContext.current()?.deadlineAt);
      await new Promise<void>((resolve) => releases.push(resolve));
      return items.map((item) => `${item} done`);
    },
    { rounds: maxConcurrentBatches },
  );
  const finishBatch = async (): Promise<void> => {
    while (releases.length === 0) await new Promise((resolve) => setImmediate(resolve));
    releases.shift()?.();
  };
  return { together, batches, deadlines, finishBatch };
}

test('KeyedBatcher: items that arrive during a batch go into the next batch, and a batch never has two items with the same key', async () => {
  const { together, batches, finishBatch } = setUp();
  const all = Promise.all(['a1', 'b1', 'a2', 'c1'].map((item) => together.add(item)));
  await finishBatch();
  const late = together.add('d1');
  await finishBatch();
  expect(await all).toEqual(['a1 done', 'b1 done', 'a2 done', 'c1 done']);
  expect([await late, batches]).toEqual([
    'd1 done',
    [
      ['a1', 'b1', 'c1'],
      ['a2', 'd1'],
    ],
  ]);
});

test('KeyedBatcher: a batch runs without the deadline of the request that started it', async () => {
  const { together, deadlines, finishBatch } = setUp();
  const first = requestContext.run({ requestId: 'first', deadlineAt: 1 }, () => together.add('a'));
  const second = requestContext.run({ requestId: 'second', deadlineAt: 2 }, () => together.add('b'));
  await finishBatch();
  const third = requestContext.run({ requestId: 'third', deadlineAt: 3 }, () => together.add('c'));
  await finishBatch();
  await Promise.all([first, second, third]);
  expect(deadlines).toEqual([undefined, undefined]);
});

test('KeyedBatcher: with two batches at the same time, an item waits for a running batch only if that batch has an item with the same key', async () => {
  const { together, batches, finishBatch } = setUp(2);
  const first = together.add('a1');
  await new Promise((resolve) => setImmediate(resolve));
  const second = Promise.all(['a2', 'b1'].map((item) => together.add(item)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(batches).toEqual([['a1'], ['b1']]);
  for (let batch = 0; batch < 3; batch += 1) await finishBatch();
  expect([await first, await second, batches]).toEqual(['a1 done', ['a2 done', 'b1 done'], [['a1'], ['b1'], ['a2']]]);
});
