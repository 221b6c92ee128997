import type { WaitingWish } from './waiting-wish.ts';
import { WaitingWishes } from './waiting-wishes.ts';

/** Seats somebody is being decided about, as the picture of their sector has it. */
let proposed: number[];
beforeEach(() => (proposed = []));

const picture = { proposedAmong: (seats: readonly number[]) => seats.filter((seat) => proposed.includes(seat)) };

function wish(userId: string, named?: readonly number[]): WaitingWish {
  return { wish: { userId }, named, picture } as unknown as WaitingWish;
}

function waiting(count: number, lanes = 2): WaitingWishes {
  const wishes = new WaitingWishes(lanes);
  for (let fan = 0; fan < count; fan += 1) wishes.add(wish(`fan ${fan}`));
  return wishes;
}

const fansOf = (taken: readonly WaitingWish[]): string[] => taken.map((one) => one.wish.userId);

test('a lane takes its share, in the order in which they came; the other lane takes the rest', () => {
  const wishes = waiting(64);
  const [first, second] = [wishes.take(), wishes.take()];
  expect([first.length, second.length, wishes.count]).toEqual([32, 32, 0]);
  expect(fansOf(first)).toEqual(Array.from({ length: 32 }, (_, fan) => `fan ${fan}`));
});

test('a few are one batch: alone nobody waits for company', () => {
  const wishes = waiting(1);
  expect([wishes.areWorthABatch, wishes.take().length]).toEqual([true, 1]);
  expect(waiting(16).take()).toHaveLength(16);
});

test('while others are decided a few wait for them to be done', () => {
  const wishes = waiting(40);
  const first = wishes.take();
  wishes.take();
  wishes.add(wish('latecomer'));
  expect([wishes.areWorthABatch, wishes.take()]).toEqual([false, []]);
  wishes.done(first);
  for (let fan = 0; fan < 15; fan += 1) wishes.add(wish(`another ${fan}`));
  expect(wishes.take()).toHaveLength(16);
});

test('no batch is larger than 256', () => {
  expect(waiting(2000).take()).toHaveLength(256);
});

test('two wishes of one fan are never decided at once, not by two lanes either', () => {
  const wishes = new WaitingWishes(2);
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
  const wishes = waiting(20);
  const [one] = wishes.take();
  wishes.done([one!]);
  wishes.addAgain(one!);
  expect(wishes.count).toBe(5);
  wishes.done(Array.from({ length: 15 }, (_, fan) => wish(`fan ${fan + 1}`)));
  expect(fansOf(wishes.take())[0]).toBe('fan 0');
});
