import { toggleSeat } from './chosen-seats.ts';

const available = (id: string) => ({ id, status: 'available' as const });

test('toggling an available seat adds it to the chosen seats, but not above the ticket limit', () => {
  const atTheLimit = toggleSeat({ chosen: ['a'], isOverLimit: false }, available('b'), 2);
  expect(atTheLimit).toEqual({ chosen: ['a', 'b'], isOverLimit: false });
  expect(toggleSeat(atTheLimit, available('c'), 2)).toEqual({ chosen: ['a', 'b'], isOverLimit: true });
});

test('toggling a chosen seat removes the seat and hides the message about the ticket limit', () => {
  expect(toggleSeat({ chosen: ['a', 'b'], isOverLimit: true }, available('a'), 2)).toEqual({ chosen: ['b'], isOverLimit: false });
});

test.each(['held', 'sold', 'blocked'] as const)('toggling a %s seat changes nothing', (status) => {
  const choice = { chosen: ['a'], isOverLimit: true };
  expect(toggleSeat(choice, { id: 'b', status }, 4)).toEqual(choice);
});
