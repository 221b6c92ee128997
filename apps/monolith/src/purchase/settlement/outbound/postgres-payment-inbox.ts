import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { PaymentInbox, type ProviderEvent } from '../application/ports.ts';

/** A row for each event of the provider that took effect, written in the transaction of the effect. */
export class PostgresPaymentInbox extends PaymentInbox {
  async remember(tx: Transaction, event: ProviderEvent): Promise<boolean> {
    const rows = await inside(tx).rows(
      `insert into payment_inbox (event_id, type, intent_id, outcome, amount_cents, currency) values ($1, $2, $3, $4, $5, $6)
       on conflict (event_id) do nothing returning 1`,
      [event.eventId, event.type, event.intentId ?? null, event.outcome, event.amountCents ?? null, event.currency ?? null],
    );
    return rows.length > 0;
  }

  rememberNew(tx: Transaction, events: readonly ProviderEvent[]): Promise<void> {
    return inside(tx).write(
      `insert into payment_inbox (event_id, type, intent_id, outcome, amount_cents, currency)
       select "eventId", type, "intentId", outcome, "amountCents", currency
       from jsonb_to_recordset($1::jsonb) as e("eventId" text, type text, "intentId" text, outcome text, "amountCents" bigint, currency text)`,
      [JSON.stringify(events)],
    );
  }
}
