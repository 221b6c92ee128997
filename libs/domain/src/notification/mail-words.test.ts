import { kickoffText, placeCountText, say, seatText, ticketCountText } from './mail-words.ts';

test.each([
  ['2026-12-12T19:45:00Z', 'hr', 'subota, 12. prosinca 2026. u 20:45'],
  ['2026-12-12T19:45:00Z', 'en', 'Saturday, 12 December 2026 at 20:45'],
  ['2026-07-01T18:00:00Z', 'hr', 'srijeda, 1. srpnja 2026. u 20:00'],
  ['2026-12-31T23:30:00Z', 'en', 'Friday, 1 January 2027 at 00:30'],
] as const)('kickoffText: %s in locale %s is "%s"', (kickoffAt, locale, expected) => {
  expect(kickoffText(kickoffAt, locale)).toBe(expected);
});

test.each([
  [1, '1 ulaznica', '1 ticket'],
  [2, '2 ulaznice', '2 tickets'],
  [4, '4 ulaznice', '4 tickets'],
  [5, '5 ulaznica', '5 tickets'],
  [11, '11 ulaznica', '11 tickets'],
  [12, '12 ulaznica', '12 tickets'],
  [21, '21 ulaznica', '21 tickets'],
  [22, '22 ulaznice', '22 tickets'],
])('ticketCountText: %i is "%s" and "%s"', (count, hr, en) => {
  expect([ticketCountText(count, 'hr'), ticketCountText(count, 'en')]).toEqual([hr, en]);
});

test.each([
  [0, '0 mjesta', '0 places'],
  [1, '1 mjesto', '1 place'],
  [5, '5 mjesta', '5 places'],
  [11, '11 mjesta', '11 places'],
  [21, '21 mjesto', '21 places'],
])('placeCountText: %i is "%s" and "%s"', (count, hr, en) => {
  expect([placeCountText(count, 'hr'), placeCountText(count, 'en')]).toEqual([hr, en]);
});

test('seatText: a standing place is written without row and seat', () => {
  expect(seatText({ sector: 'Sjever', row: null, seat: null }, 'hr')).toBe('Sjever, stajanje');
  expect(seatText({ sector: 'North', row: null, seat: null }, 'en')).toBe('North, standing');
});

test('say: a missing variable throws, and line breaks in a variable become spaces', () => {
  expect(() => say`Hello ${undefined}`).toThrow('missing');
  expect(say`Hello ${'a\r\nb\u2028c'}!`).toBe('Hello a b c!');
});
