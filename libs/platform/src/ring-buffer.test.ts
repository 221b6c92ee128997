import { RingBuffer } from './ring-buffer.ts';

test('RingBuffer: items come out in the order they were pushed, also after all slots were reused many times', () => {
  const ring = new RingBuffer<number>(4);
  const shifted: (number | undefined)[] = [];
  for (let number = 0; number < 50; number += 1) {
    ring.push(number);
    if (number % 3 !== 0) shifted.push(ring.shift());
  }
  while (ring.length > 0) shifted.push(ring.shift());
  expect(shifted).toEqual(Array.from({ length: 50 }, (_, number) => number));
  expect(ring.shift()).toBeUndefined();
});

test('RingBuffer: an item added by unshift comes out before all items that were added earlier', () => {
  const ring = new RingBuffer<string>(2);
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

test('RingBuffer: 5000 random calls of push, unshift and shift give the same results as on an array', () => {
  let state = 7;
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  const [ring, array] = [new RingBuffer<number>(1), [] as number[]];
  for (let step = 0; step < 5000; step += 1) {
    const operation = random(5);
    if (operation < 2) [ring, array].forEach((queue) => queue.push(step));
    else if (operation === 2) [ring, array].forEach((queue) => queue.unshift(step));
    else expect(ring.shift()).toBe(array.shift());
    expect(ring.length).toBe(array.length);
  }
});
