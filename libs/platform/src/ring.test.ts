import { Ring } from './ring.ts';

test('first in, first out, round and round', () => {
  const ring = new Ring<number>(4);
  const out: (number | undefined)[] = [];
  for (let number = 0; number < 50; number += 1) {
    ring.push(number);
    if (number % 3 !== 0) out.push(ring.shift());
  }
  while (ring.length > 0) out.push(ring.shift());
  expect(out).toEqual(Array.from({ length: 50 }, (_, number) => number));
  expect(ring.shift()).toBeUndefined();
});

test('who is put before the others leaves before them', () => {
  const ring = new Ring<string>(2);
  ring.push('b');
  ring.unshift('a');
  ring.push('c');
  ring.unshift('before all');
  expect([ring.length, ring.shift(), ring.shift(), ring.shift(), ring.shift(), ring.length]).toEqual([
    4,
    'before all',
    'a',
    'b',
    'c',
    0,
  ]);
});

test('does what an array does, whatever comes in which order', () => {
  let state = 7;
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  const [ring, array] = [new Ring<number>(1), [] as number[]];
  for (let step = 0; step < 5000; step += 1) {
    const what = random(5);
    if (what < 2) [ring, array].forEach((line) => line.push(step));
    else if (what === 2) [ring, array].forEach((line) => line.unshift(step));
    else expect(ring.shift()).toBe(array.shift());
    expect(ring.length).toBe(array.length);
  }
});
