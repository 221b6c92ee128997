import { requestContext } from './logging/request-context.ts';
import { Together } from './together.ts';

/** Each round waits until it is let through. */
function rounds(mostRounds = 1) {
  const batches: string[][] = [];
  const deadlines: (number | undefined)[] = [];
  const doors: (() => void)[] = [];
  const together = new Together<string, string>(
    (item) => item.slice(0, 1),
    async (items) => {
      batches.push([...items]);
      deadlines.push(requestContext.current()?.deadlineAt);
      await new Promise<void>((resolve) => doors.push(resolve));
      return items.map((item) => `${item} done`);
    },
    { rounds: mostRounds },
  );
  const letThrough = async (): Promise<void> => {
    while (doors.length === 0) await new Promise((resolve) => setImmediate(resolve));
    doors.shift()?.();
  };
  return { together, batches, deadlines, letThrough };
}

test('whoever comes while a round is under way goes along with the next; the same key not beside itself', async () => {
  const { together, batches, letThrough } = rounds();
  const all = Promise.all(['a1', 'b1', 'a2', 'c1'].map((item) => together.add(item)));
  await letThrough();
  const late = together.add('d1');
  await letThrough();
  expect(await all).toEqual(['a1 done', 'b1 done', 'a2 done', 'c1 done']);
  expect([await late, batches]).toEqual([
    'd1 done',
    [
      ['a1', 'b1', 'c1'],
      ['a2', 'd1'],
    ],
  ]);
});

test('a round runs under the deadline of nobody who asked: the first one of a long day may be long over', async () => {
  const { together, deadlines, letThrough } = rounds();
  const first = requestContext.run({ requestId: 'first', deadlineAt: 1 }, () => together.add('a'));
  const second = requestContext.run({ requestId: 'second', deadlineAt: 2 }, () => together.add('b'));
  await letThrough();
  const third = requestContext.run({ requestId: 'third', deadlineAt: 3 }, () => together.add('c'));
  await letThrough();
  await Promise.all([first, second, third]);
  expect(deadlines).toEqual([undefined, undefined]);
});

test('two rounds at a time: the second does not wait for the first, but for its keys', async () => {
  const { together, batches, letThrough } = rounds(2);
  const first = together.add('a1');
  await new Promise((resolve) => setImmediate(resolve));
  const second = Promise.all(['a2', 'b1'].map((item) => together.add(item)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(batches).toEqual([['a1'], ['b1']]);
  for (let round = 0; round < 3; round += 1) await letThrough();
  expect([await first, await second, batches]).toEqual(['a1 done', ['a2 done', 'b1 done'], [['a1'], ['b1'], ['a2']]]);
});
