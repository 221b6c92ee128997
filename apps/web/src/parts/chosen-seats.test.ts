import { afterToggle } from './chosen-seats.ts';

const free = (id: string) => ({ id, status: 'available' as const });

test('a free seat is added, up to the limit', () => {
  const one = afterToggle({ chosen: ['a'], atLimit: false }, free('b'), 2);
  expect(one).toEqual({ chosen: ['a', 'b'], atLimit: false });
  expect(afterToggle(one, free('c'), 2)).toEqual({ chosen: ['a', 'b'], atLimit: true });
});

test('giving up a chosen seat also removes the message about the ticket limit', () => {
  expect(afterToggle({ chosen: ['a', 'b'], atLimit: true }, free('a'), 2)).toEqual({ chosen: ['b'], atLimit: false });
});

test.each(['held', 'sold', 'blocked'] as const)('a %s seat changes nothing', (status) => {
  const choice = { chosen: ['a'], atLimit: true };
  expect(afterToggle(choice, { id: 'b', status }, 4)).toEqual(choice);
});
