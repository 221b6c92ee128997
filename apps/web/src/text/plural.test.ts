import { plural } from './plural.ts';

const seats = { one: 'sjedalo', few: 'sjedala', other: 'sjedala (5)' };

test.each([
  [1, 'sjedalo'],
  [2, 'sjedala'],
  [4, 'sjedala'],
  [5, 'sjedala (5)'],
  [11, 'sjedala (5)'],
  [21, 'sjedalo'],
  [22, 'sjedala'],
])('the Croatian plural form for %i is %s', (count, form) => {
  expect(plural('hr', count, seats)).toBe(form);
});

test.each([
  [0, 'seats'],
  [1, 'seat'],
  [2, 'seats'],
  [21, 'seats'],
])('the English plural form for %i is %s', (count, form) => {
  expect(plural('en', count, { one: 'seat', other: 'seats' })).toBe(form);
});
