import { setTimeout as pause } from 'node:timers/promises';
import { SharedRead } from './shared-read.ts';

const FOREVER = Number.POSITIVE_INFINITY;
/** A `SharedRead` whose value is the number of reads so far. `readTimes` has the start of each read. */
function countingRead({ validForMs = FOREVER, readMs = 5, minIntervalMs = 0 } = {}) {
  const readTimes: number[] = [];
  const shared = new SharedRead<number>(async () => {
    readTimes.push(performance.now());
    const number = readTimes.length;
    await pause(readMs);
    return { value: number, validForMs };
  }, minIntervalMs);
  return { shared, readTimes };
}

test('SharedRead: one read serves 1,000 concurrent requests, and a request half a second later', async () => {
  const { shared, readTimes } = countingRead();
  const first = await Promise.all(Array.from({ length: 1000 }, () => shared.get()));
  await pause(500);
  expect([new Set([...first, await shared.get()]).size, readTimes.length]).toEqual([1, 1]);
});

test('SharedRead: a request after more than a second causes a new read', async () => {
  const { shared } = countingRead();
  await shared.get();
  await pause(1010);
  expect(await shared.get()).toBe(2);
});

test('SharedRead: a value that is valid for 100 ms is read again after 100 ms, not before', async () => {
  const { shared } = countingRead({ validForMs: 100 });
  await shared.get();
  await pause(60);
  expect(await shared.get()).toBe(1);
  await pause(60);
  expect(await shared.get()).toBe(2);
});

test('SharedRead: a request after invalidate() gets a read that began after invalidate(), also while an older read is running', async () => {
  const { shared } = countingRead({ readMs: 30 });
  const before = shared.get();
  await pause(5);
  shared.invalidate();
  expect([await shared.get(), await before]).toEqual([2, 1]);
  expect(await shared.get()).toBe(2);
});

test('SharedRead: under constant invalidation reads keep the minimum interval, and every request is answered', async () => {
  const { shared, readTimes } = countingRead({ minIntervalMs: 50, readMs: 1 });
  const until = performance.now() + 300;
  const invalidateAndGet = async () => {
    for (; performance.now() < until; await pause(1)) {
      shared.invalidate();
      await shared.get();
    }
  };
  await Promise.all(Array.from({ length: 20 }, invalidateAndGet));
  const intervals = readTimes.slice(1).map((at, index) => at - (readTimes[index] ?? 0));
  expect(readTimes.length).toBeLessThanOrEqual(8);
  expect(Math.min(...intervals)).toBeGreaterThan(45);
});

test('SharedRead: a failed read fails all requests that wait for it, and the next request reads again', async () => {
  let fails = true;
  const shared = new SharedRead<string>(async () => {
    await pause(5);
    if (fails) throw new Error('no database');
    return { value: 'read', validForMs: FOREVER };
  }, 0);
  const requests = await Promise.allSettled([shared.get(), shared.get()]);
  expect(requests.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await shared.get()).toBe('read');
});
