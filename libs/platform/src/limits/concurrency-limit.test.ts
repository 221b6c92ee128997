import { ConcurrencyLimit } from './concurrency-limit.ts';

/** Work that ends when it is told to. */
function piece(log: string[], name: string) {
  let end!: (error?: Error) => void;
  const ended = new Promise<void>((resolve, reject) => (end = (error) => (error ? reject(error) : resolve())));
  const work = async () => {
    log.push(name);
    await ended;
    return name;
  };
  return { work, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('as many run as there are lanes, the others in the order they came', async () => {
  const lanes = new ConcurrencyLimit(2, 10);
  const begun: string[] = [];
  const pieces = ['a', 'b', 'c', 'd'].map((name) => piece(begun, name));
  const results = pieces.map(({ work }) => lanes.run(work));
  await settled();
  expect(begun).toEqual(['a', 'b']);
  pieces[1]?.end();
  await settled();
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const { end } of pieces) end();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
});

test('work that fails gives its lane back', async () => {
  const lanes = new ConcurrencyLimit(1, 10);
  const failing = lanes.run(() => Promise.reject(new Error('no')));
  const next = lanes.run(() => Promise.resolve('yes'));
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
  expect(await lanes.run(() => Promise.resolve('and again'))).toBe('and again');
});

test('whoever comes when too many wait is told to come back', async () => {
  const lanes = new ConcurrencyLimit(1, 1);
  const first = piece([], 'first');
  const running = lanes.run(first.work);
  const waiting = lanes.run(() => Promise.resolve('second'));
  await expect(lanes.run(() => Promise.resolve('third'))).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  first.end();
  expect(await Promise.all([running, waiting])).toEqual(['first', 'second']);
});
