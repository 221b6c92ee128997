import { formatMoney, moneyText } from './money.ts';

test.each([
  [45_000, 'EUR', '450.00 EUR'],
  [5, 'EUR', '0.05 EUR'],
  [-1_250, 'EUR', '-12.50 EUR'],
])('formatMoney: %d cents in %s is "%s"', (amountCents, currency, text) => {
  expect(formatMoney({ amountCents, currency })).toBe(text);
});

test.each([
  [7_000, 'EUR', '70,00 EUR', 'EUR 70.00'],
  [0, 'EUR', '0,00 EUR', 'EUR 0.00'],
  [5, 'GBP', '0,05 GBP', 'GBP 0.05'],
  [99_999, 'EUR', '999,99 EUR', 'EUR 999.99'],
  [145_000, 'EUR', '1.450,00 EUR', 'EUR 1,450.00'],
  [123_456_789, 'EUR', '1.234.567,89 EUR', 'EUR 1,234,567.89'],
])('moneyText: %d cents in %s are "%s" in Croatian and "%s" in English, as Intl writes them', (amountCents, currency, hr, en) => {
  const formatted = formatMoney({ amountCents, currency });
  expect([moneyText(formatted, 'hr'), moneyText(formatted, 'en')]).toEqual([hr, en]);
  // The page formats amounts with Intl and these locales.
  const byIntl = (locale: string): string =>
    new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'code' }).format(amountCents / 100);
  expect([byIntl('hr-HR'), byIntl('en-GB')].map((text) => text.replaceAll(/\s/g, ' '))).toEqual([hr, en]);
});

test.each(['€20.00', '-12.50 EUR', '1.5 EUR', '20.00', ''])(
  'moneyText: "%s" is not an amount of ours and stays unchanged',
  (text) => {
    expect([moneyText(text, 'hr'), moneyText(text, 'en')]).toEqual([text, text]);
  },
);
