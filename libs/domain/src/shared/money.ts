/** Integer cents and an ISO 4217 currency; there is no other money in the house. */
export interface Money {
  readonly amountCents: number;
  readonly currency: string;
}

/** "450.00 EUR", as the seed's mails write it. */
export function formatMoney({ amountCents, currency }: Money): string {
  const sign = amountCents < 0 ? '-' : '';
  const cents = Math.abs(amountCents);
  return `${sign}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')} ${currency}`;
}
