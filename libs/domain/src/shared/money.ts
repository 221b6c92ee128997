/** An amount in integer cents with an ISO 4217 currency. The only representation of money in the system. */
export interface Money {
  readonly amountCents: number;
  readonly currency: string;
}

/** Formats an amount as "450.00 EUR". */
export function formatMoney({ amountCents, currency }: Money): string {
  const sign = amountCents < 0 ? '-' : '';
  const cents = Math.abs(amountCents);
  return `${sign}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')} ${currency}`;
}
