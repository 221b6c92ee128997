import { requestContext } from '../logging/request-context.ts';
import { Batcher, type BatcherOptions } from './batcher.ts';

/**
 * Opens a batcher and records its batches, with the deadline of the request context in which each one runs. The test ends the oldest
 * open batch with `finish` or `fail`.
 */
function setUp(options: BatcherOptions<string> = {}) {
  const batches: string[][] = [];
  const deadlines: (number | undefined)[] = [];
  const idle = { count: 0 };
  const open: { finish: () => void; fail: (error: Error) => void }[] = [];
  const batcher = new Batcher<string, string>(
    (items) => {
      batches.push([...items]);
      deadlines.push(requestContext.current()?.deadlineAt);
      return new Promise((resolve, reject) =>
        open.push({ finish: () => resolve(items.map((item) => `${item} done`)), fail: reject }),
      );
    },
    { ...options, onIdle: () => (idle.count += 1) },
  );
  const add = (items: readonly string[]) =>
    items.map((item) => {
      const answer = batcher.add(item);
      // A test looks at a rejection later; until then it must not count as unhandled.
      answer.catch(() => undefined);
      return answer;
    });
  const finish = async (): Promise<void> => {
    open.shift()!.finish();
    await nextTick();
  };
  const fail = async (error: Error): Promise<void> => {
    open.shift()!.fail(error);
    await nextTick();
  };
  return { batcher, batches, deadlines, idle, open, add, finish, fail };
}

const nextTick = () => new Promise(setImmediate);
const firstLetter = (item: string): string => item.slice(0, 1);
const statusOf = async (answers: readonly Promise<string>[]): Promise<string[]> =>
  (await Promise.allSettled(answers)).map((answer) =>
    answer.status === 'fulfilled' ? answer.value : (answer.reason as Error).message,
  );

describe('Batcher: when a batch starts', () => {
  test('the first item starts a batch at once, and items that arrive while it is in progress share the next batch', async () => {
    const { batches, add, finish } = setUp();
    const answers = add(['a', 'b', 'c', 'b']);
    expect(batches).toEqual([['a']]);
    await finish();
    expect(batches[1]).toEqual(['b', 'c', 'b']);
    await finish();
    expect(await Promise.all(answers)).toEqual(['a done', 'b done', 'c done', 'b done']);
  });

  test('onIdle is called when the last batch has ended and no item waits', async () => {
    const { idle, add, finish } = setUp();
    void add(['a', 'b']);
    await finish();
    expect(idle.count).toBe(0);
    await finish();
    expect(idle.count).toBe(1);
    void add(['c']);
    await finish();
    expect(idle.count).toBe(2);
  });

  test.each([
    ['queueMicrotask', queueMicrotask],
    ['setImmediate', setImmediate],
  ])('with startWith %s the items of one tick share the first batch', async (_name, startWith) => {
    const { batches, add, finish } = setUp({ startWith });
    const answers = add(['a', 'b']);
    expect(batches).toEqual([]);
    await nextTick();
    await finish();
    expect([await Promise.all(answers), batches]).toEqual([['a done', 'b done'], [['a', 'b']]]);
  });

  test('the end of a batch does not start the items of the current tick before startWith calls back', async () => {
    const { batches, add, finish } = setUp({ startWith: setImmediate, maxInProgress: Infinity });
    const first = add(['a']);
    await nextTick();
    const ended = finish();
    const [b] = add(['b']);
    await Promise.all(first);
    const [c] = add(['c']);
    await ended;
    await nextTick();
    expect(batches).toEqual([['a'], ['b', 'c']]);
    await finish();
    await Promise.all([b, c]);
  });
});

describe('Batcher: limits', () => {
  test('a batch has at most maxBatchSize items, and at most maxInProgress batches are in progress', async () => {
    const { batches, add, finish } = setUp({ maxBatchSize: 2, maxInProgress: 2, startWith: setImmediate });
    const answers = add(['a', 'b', 'c', 'd', 'e']);
    await nextTick();
    expect(batches).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    await finish();
    expect(batches[2]).toEqual(['e']);
    await finish();
    await finish();
    expect(await Promise.all(answers)).toHaveLength(5);
  });

  test('while a batch is in progress, a second one starts only when minBesideAnother items wait', async () => {
    const { batches, add, finish } = setUp({ maxInProgress: 2, minBesideAnother: 2 });
    const answers = add(['a', 'b']);
    expect(batches).toEqual([['a']]);
    answers.push(...add(['c']));
    expect(batches).toEqual([['a'], ['b', 'c']]);
    await finish();
    await finish();
    await Promise.all(answers);
  });

  test('an item above maxWaiting is rejected with its error, and the waiting items are answered', async () => {
    const { add, finish } = setUp({ maxWaiting: { count: 2, error: () => new Error('too many') } });
    const answers = add(['in progress', 'waiting', 'waiting', 'refused']);
    await finish();
    await finish();
    expect(await statusOf(answers)).toEqual(['in progress done', 'waiting done', 'waiting done', 'too many']);
  });
});

describe('Batcher: keys and groups', () => {
  test('a batch never has two items with the same key, and items that arrive meanwhile go into the next batch', async () => {
    const { batches, add, finish } = setUp({ keyOf: firstLetter, startWith: queueMicrotask });
    const answers = add(['a1', 'b1', 'a2', 'c1']);
    await nextTick();
    answers.push(...add(['d1']));
    await finish();
    await finish();
    expect(await Promise.all(answers)).toEqual(['a1 done', 'b1 done', 'a2 done', 'c1 done', 'd1 done']);
    expect(batches).toEqual([
      ['a1', 'b1', 'c1'],
      ['a2', 'd1'],
    ]);
  });

  test('with two batches in progress, an item waits for a batch only if that batch has an item with the same key', async () => {
    const { batches, add, finish } = setUp({ keyOf: firstLetter, maxInProgress: 2, startWith: queueMicrotask });
    const answers = add(['a1']);
    await nextTick();
    answers.push(...add(['a2', 'b1']));
    await nextTick();
    expect(batches).toEqual([['a1'], ['b1']]);
    for (let batch = 0; batch < 3; batch += 1) await finish();
    expect([await Promise.all(answers), batches]).toEqual([
      ['a1 done', 'a2 done', 'b1 done'],
      [['a1'], ['b1'], ['a2']],
    ]);
  });

  test('an item that had to wait because of its key is in the next batch, before items that arrived later', async () => {
    const { batches, add, finish } = setUp({ keyOf: firstLetter, maxBatchSize: 2, startWith: setImmediate });
    const answers = add(['a1', 'a2', 'b1', 'c1', 'd1']);
    await nextTick();
    for (let batch = 0; batch < 3; batch += 1) await finish();
    await Promise.all(answers);
    expect(batches).toEqual([['a1', 'b1'], ['a2', 'c1'], ['d1']]);
  });

  test('a batch has items of one group, and the oldest waiting item decides which group is next', async () => {
    const { batches, add, finish } = setUp({ groupOf: firstLetter, startWith: setImmediate });
    const answers = add(['a1', 'b1', 'a2', 'b2', 'c1']);
    await nextTick();
    answers.push(...add(['a3']));
    for (let batch = 0; batch < 4; batch += 1) await finish();
    await Promise.all(answers);
    expect(batches).toEqual([['a1', 'a2'], ['b1', 'b2'], ['c1'], ['a3']]);
  });
});

describe('Batcher: failures', () => {
  test('a failed batch rejects only its own items, and the next batch succeeds', async () => {
    const { add, finish, fail } = setUp();
    const answers = add(['a', 'b', 'c']);
    await fail(new Error('database unavailable'));
    await finish();
    expect(await statusOf(answers)).toEqual(['database unavailable', 'b done', 'c done']);
  });

  test('an exception that is thrown before the first await of a batch rejects its items', async () => {
    const batcher = new Batcher<string, string>(() => {
      throw new Error('no connection');
    });
    await expect(batcher.add('a')).rejects.toThrow('no connection');
    await expect(batcher.add('b')).rejects.toThrow('no connection');
  });

  test('after an outage the waiting items are rejected too, and a later item starts a batch', async () => {
    const { idle, batches, add, finish, fail } = setUp({ isOutage: (error) => (error as Error).message === 'timeout' });
    const answers = add(['a', 'b', 'c']);
    await fail(new Error('timeout'));
    expect([await statusOf(answers), idle.count]).toEqual([['timeout', 'timeout', 'timeout'], 1]);
    const later = add(['d']);
    await finish();
    expect([await statusOf(later), batches]).toEqual([['d done'], [['a'], ['d']]]);
  });

  test('after an outage the waiting items are not rejected if another batch was answered meanwhile', async () => {
    const { batches, open, add, finish, fail } = setUp({ isOutage: () => true, maxInProgress: 2, maxBatchSize: 1 });
    const answers = add(['slow', 'fast', 'b', 'c']);
    open.reverse();
    await finish();
    expect(batches).toEqual([['slow'], ['fast'], ['b']]);
    await fail(new Error('timeout'));
    await finish();
    await finish();
    expect(await statusOf(answers)).toEqual(['timeout', 'fast done', 'b done', 'c done']);
  });
});

test('Batcher: an answer that is a promise is awaited by its caller, but not by the next batch', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const batcher = new Batcher<string, string>((items) =>
    Promise.resolve(items.map((item) => (item === 'slow' ? released.then(() => 'slow done') : `${item} done`))),
  );
  const slow = batcher.add('slow');
  expect(await batcher.add('next')).toBe('next done');
  release();
  expect(await slow).toBe('slow done');
});

test('Batcher: batches run without the deadline of the request that started them', async () => {
  const { batcher, deadlines, finish } = setUp();
  const inRequest = (item: string, deadlineAt: number) =>
    requestContext.run({ requestId: item, deadlineAt }, () => batcher.add(item));
  const answers = [inRequest('a', 1), inRequest('b', 2)];
  await finish();
  answers.push(inRequest('c', 3));
  await finish();
  await finish();
  await Promise.all(answers);
  expect(deadlines).toEqual([undefined, undefined, undefined]);
});
