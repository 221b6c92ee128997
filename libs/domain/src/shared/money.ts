/** An amount in integer cents with an ISO 4217 currency. The only representation of money in the system. */
export interface Money {
  readonly amountCents: number;
  readonly currency: string;
}

/** Formats an amount as "450.00 EUR", the form in messages between our services. */
export function formatMoney({ amountCents, currency }: Money): string {
  const sign = amountCents < 0 ? '-' : '';
  const cents = Math.abs(amountCents);
  return `${sign}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')} ${currency}`;
}

const FORMATTED = /^(\d{1,13})\.(\d\d) ([A-Z]{3})$/;

/**
 * Writes an amount that `formatMoney` made in a reader's language: "1.450,00 EUR" in Croatian, "EUR 1,450.00" in English. Separators and
 * the place of the currency are those of the web page, which has a sign for the currency. Any other text, such as a negative amount,
 * is returned unchanged.
 */
export function moneyText(formatted: string, locale: 'hr' | 'en'): string {
  const [, whole, cents, currency] = FORMATTED.exec(formatted) ?? [];
  if (!whole) return formatted;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, locale === 'hr' ? '.' : ',');
  return locale === 'hr' ? `${grouped},${cents} ${currency}` : `${currency} ${grouped}.${cents}`;
}
