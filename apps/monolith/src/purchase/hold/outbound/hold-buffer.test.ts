import { jest } from '@jest/globals';
import type { QueuedHold } from './queued-hold.ts';
import { HoldBuffer } from './hold-buffer.ts';

/** Seats somebody is being decided about, as the picture of their sector has it. */
let proposed: number[];
beforeEach(() => (proposed = []));

const picture = { proposedAmong: (seats: readonly number[]) => seats.filter((seat) => proposed.includes(seat)) };

function wish(userId: string, named?: readonly number[]): QueuedHold {
  return { wish: { userId }, named, picture } as unknown as QueuedHold;
}

function waiting(count: number): HoldBuffer {
  const wishes = new HoldBuffer();
  for (let fan = 0; fan < count; fan += 1) wishes.add(wish(`fan ${fan}`));
  return wishes;
}

const fansOf = (taken: readonly QueuedHold[]): string[] => taken.map((one) => one.wish.userId);

test('a lane takes all who wait, in the order in which they came', () => {
  const wishes = waiting(64);
  expect(fansOf(wishes.take())).toEqual(Array.from({ length: 64 }, (_, fan) => `fan ${fan}`));
  expect(wishes.count).toBe(0);
});

test('alone nobody waits for company', () => {
  const wishes = waiting(1);
  expect([wishes.areWorthABatch, wishes.take().length]).toEqual([true, 1]);
});

test('while others are decided less than a hundred wait for them to be done', () => {
  const wishes = waiting(40);
  const first = wishes.take();
  for (let fan = 0; fan < 127; fan += 1) wishes.add(wish(`latecomer ${fan}`));
  expect([wishes.areWorthABatch, wishes.take()]).toEqual([false, []]);
  wishes.add(wish('one more'));
  expect([wishes.areWorthABatch, wishes.take().length]).toEqual([true, 128]);
  wishes.add(wish('somebody'));
  expect(wishes.take()).toEqual([]);
  wishes.done(first);
  expect(wishes.take()).toEqual([]);
});

test('and are decided as soon as they are', () => {
  const wishes = waiting(2);
  const first = wishes.take();
  wishes.add(wish('latecomer'));
  wishes.done(first);
  expect(fansOf(wishes.take())).toEqual(['latecomer']);
});

test('nobody waits for a batch that hangs', () => {
  const wishes = waiting(2);
  wishes.take();
  wishes.add(wish('latecomer'));
  expect(wishes.areWorthABatch).toBe(false);
  const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60);
  expect(fansOf(wishes.take())).toEqual(['latecomer']);
  now.mockRestore();
});

test('no batch is larger than 256', () => {
  expect(waiting(2000).take()).toHaveLength(256);
});

test('two wishes of one fan are never decided at once, not by two lanes either', () => {
  const wishes = new HoldBuffer();
  for (const fan of ['a', 'a', 'b']) wishes.add(wish(fan));
  const first = wishes.take();
  expect(fansOf(first)).toEqual(['a', 'b']);
  wishes.done(first);
  expect(fansOf(wishes.take())).toEqual(['a']);
});

test('who names seats that are being decided about waits, and the others pass', () => {
  const wishes = waiting(0);
  proposed = [1];
  wishes.add(wish('a', [1, 2]));
  wishes.add(wish('b'));
  expect(fansOf(wishes.take())).toEqual(['b']);
  proposed = [];
  wishes.done([wish('b')]);
  expect(fansOf(wishes.take())).toEqual(['a']);
});

test('who comes again is first', () => {
  const wishes = waiting(300);
  const [one] = wishes.take();
  wishes.addAgain(one!);
  expect(wishes.count).toBe(45);
  wishes.done([one!]);
  for (let fan = 1; fan < 256; fan += 1) wishes.done([wish(`fan ${fan}`)]);
  expect(fansOf(wishes.take())[0]).toBe('fan 0');
});
