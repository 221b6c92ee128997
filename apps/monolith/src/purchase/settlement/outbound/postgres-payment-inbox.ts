import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { PaymentInbox, PaymentReport } from '../application/ports.ts';

/**
 * The table `payment_inbox`: one row for each event of the payment provider, written in the transaction that applies the event.
 * Guarantee: an event takes effect once.
 */
export class PostgresPaymentInbox implements PaymentInbox {
  /** Waits while another transaction records the same event. */
  async remember(tx: Transaction, event: PaymentReport): Promise<boolean> {
    const { eventId, type, intentId = null, outcome, amountCents = null, currency = null } = event;
    const rows = await inside(tx).rows(
      `insert into payment_inbox (event_id, type, intent_id, outcome, amount_cents, currency)
       values ($1, $2, $3, $4, $5, $6) on conflict (event_id) do nothing returning 1`,
      [eventId, type, intentId, outcome, amountCents, currency],
    );
    return rows.length > 0;
  }

  /**
   * The statement has no `on conflict`: if one event is already recorded, the whole transaction fails, and then the caller settles
   * each event in a transaction of its own.
   */
  rememberNew(tx: Transaction, events: readonly PaymentReport[]): Promise<void> {
    return inside(tx).write(
      `insert into payment_inbox (event_id, type, intent_id, outcome, amount_cents, currency)
       select "eventId", type, "intentId", outcome, "amountCents", currency
       from jsonb_to_recordset($1::jsonb)
         as e("eventId" text, type text, "intentId" text, outcome text, "amountCents" bigint, currency text)`,
      [JSON.stringify(events)],
    );
  }
}
