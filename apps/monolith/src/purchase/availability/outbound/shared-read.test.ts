import { setTimeout as pause } from 'node:timers/promises';
import { SharedRead } from './shared-read.ts';

const FOREVER = Number.POSITIVE_INFINITY;
/** A look that counts itself; each takes `tookMs`. */
function counting({ goodForMs = FOREVER, tookMs = 5, spacingMs = 0 } = {}) {
  const looks: number[] = [];
  const look = new SharedRead<number>(async () => {
    looks.push(performance.now());
    const number = looks.length;
    await pause(tookMs);
    return { value: number, goodForMs };
  }, spacingMs);
  return { look, looks };
}

test('a thousand who ask at once, and all who ask within the second, are served by one look', async () => {
  const { look, looks } = counting();
  const first = await Promise.all(Array.from({ length: 1000 }, () => look.get()));
  await pause(500);
  expect([new Set([...first, await look.get()]).size, looks.length]).toEqual([1, 1]);
});

test('after a second it is looked again', async () => {
  const { look } = counting();
  await look.get();
  await pause(1010);
  expect(await look.get()).toBe(2);
});

test('what lapses sooner is looked up again from then on, and not before', async () => {
  const { look } = counting({ goodForMs: 100 });
  await look.get();
  await pause(60);
  expect(await look.get()).toBe(1);
  await pause(60);
  expect(await look.get()).toBe(2);
});

test('who asks after a change sees a look that began after it, also when one is under way', async () => {
  const { look } = counting({ tookMs: 30 });
  const before = look.get();
  await pause(5);
  look.touch();
  expect([await look.get(), await before]).toEqual([2, 1]);
  expect(await look.get()).toBe(2);
});

test('changes without end cause looks at their distance, and let every asker go', async () => {
  const { look, looks } = counting({ spacingMs: 50, tookMs: 1 });
  const until = performance.now() + 300;
  const asker = async () => {
    for (; performance.now() < until; await pause(1)) {
      look.touch();
      await look.get();
    }
  };
  await Promise.all(Array.from({ length: 20 }, asker));
  const distances = looks.slice(1).map((at, index) => at - (looks[index] ?? 0));
  expect(looks.length).toBeLessThanOrEqual(8);
  expect(Math.min(...distances)).toBeGreaterThan(45);
});

test('a look that fails is told to all who wait for it, and the next asker tries again', async () => {
  let fails = true;
  const look = new SharedRead<string>(async () => {
    await pause(5);
    if (fails) throw new Error('no database');
    return { value: 'seen', goodForMs: FOREVER };
  }, 0);
  const asked = await Promise.allSettled([look.get(), look.get()]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await look.get()).toBe('seen');
});
