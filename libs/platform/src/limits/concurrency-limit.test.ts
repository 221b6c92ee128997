import { ConcurrencyLimit } from './concurrency-limit.ts';

/** Makes work that logs its start and ends when the test calls `end`. */
function controlledWork(log: string[], name: string) {
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

test('ConcurrencyLimit: with a limit of two, at most two pieces of work run at the same time, and waiting work starts in the order it came', async () => {
  const limit = new ConcurrencyLimit(2, 10);
  const begun: string[] = [];
  const tasks = ['a', 'b', 'c', 'd'].map((name) => controlledWork(begun, name));
  const results = tasks.map(({ work }) => limit.run(work));
  await settled();
  expect(begun).toEqual(['a', 'b']);
  tasks[1]?.end();
  await settled();
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const { end } of tasks) end();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
});

test('ConcurrencyLimit: work that fails lets the next waiting work start', async () => {
  const limit = new ConcurrencyLimit(1, 10);
  const failing = limit.run(() => Promise.reject(new Error('no')));
  const next = limit.run(() => Promise.resolve('yes'));
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
  expect(await limit.run(() => Promise.resolve('and again'))).toBe('and again');
});

test('ConcurrencyLimit: when the waiting list is full, further work is refused with LOCK_TIMEOUT', async () => {
  const limit = new ConcurrencyLimit(1, 1);
  const first = controlledWork([], 'first');
  const running = limit.run(first.work);
  const waiting = limit.run(() => Promise.resolve('second'));
  await expect(limit.run(() => Promise.resolve('third'))).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  first.end();
  expect(await Promise.all([running, waiting])).toEqual(['first', 'second']);
});
