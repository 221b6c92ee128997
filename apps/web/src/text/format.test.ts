import { formatFor } from './format.ts';

// Intl puts a no-break space between number and currency. The expected texts here have plain spaces.
const withPlainSpaces = (text: string) => text.replaceAll(/\s/g, ' ');

test.each([
  ['hr-HR', 2_500, 'EUR', '25,00 €'],
  ['hr-HR', 5, 'EUR', '0,05 €'],
  ['hr-HR', 1_234_567, 'EUR', '12.345,67 €'],
  ['en-GB', 2_500, 'EUR', '€25.00'],
  ['en-GB', 199, 'GBP', '£1.99'],
  ['en-GB', 0, 'EUR', '€0.00'],
])('money in %s: %i cents of %s are shown as %s', (locale, cents, currency, shown) => {
  expect(withPlainSpaces(formatFor(locale).money(cents, currency))).toBe(shown);
});

test.each([
  [0, '0:00'],
  [-5_000, '0:00'],
  [1, '0:01'],
  [5_000, '0:05'],
  [59_001, '1:00'],
  [245_000, '4:05'],
  [250_000, '4:10'],
  [20 * 60_000, '20:00'],
])('the remaining time of %i ms is shown as %s, rounded up to full seconds', (ms, shown) => {
  expect(formatFor('en-GB').countdown(ms)).toBe(shown);
});

test('numbers have the thousands separator of the language', () => {
  expect([formatFor('hr-HR').number(12_345), formatFor('en-GB').number(12_345)]).toEqual(['12.345', '12,345']);
});

test('times are shown with the 24-hour clock, and the hour after midnight as 00', () => {
  const midnight = new Date(2026, 10, 20, 0, 5, 9).toISOString();
  const evening = new Date(2026, 10, 20, 20, 0, 12).toISOString();
  const format = formatFor('en-GB');
  expect([format.clock(midnight), format.clock(evening)]).toEqual(['00:05:09', '20:00:12']);
  expect(format.dateTime(midnight)).toMatch(/ 00:05$/);
  expect(format.dateTime(evening)).toMatch(/^Fri.* 20 November.* 20:00$/);
});
