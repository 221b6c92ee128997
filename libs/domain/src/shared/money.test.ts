import { formatMoney } from './money.ts';

test.each([
  [45_000, 'EUR', '450.00 EUR'],
  [5, 'EUR', '0.05 EUR'],
  [-1_250, 'EUR', '-12.50 EUR'],
])('formatMoney: %d cents in %s is "%s"', (amountCents, currency, text) => {
  expect(formatMoney({ amountCents, currency })).toBe(text);
});
