import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { PaymentInbox, ProviderEvent } from '../application/ports.ts';
import { REMEMBER_EVENT, REMEMBER_NEW_EVENTS } from './payment-inbox.sql.ts';

/**
 * The table `payment_inbox`: a row for each payment event that took effect, written in the transaction that applies the event.
 */
export class PostgresPaymentInbox implements PaymentInbox {
  async remember(tx: Transaction, event: ProviderEvent): Promise<boolean> {
    const { eventId, type, intentId = null, outcome, amountCents = null, currency = null } = event;
    const rows = await inside(tx).rows(REMEMBER_EVENT.with({ eventId, type, intentId, outcome, amountCents, currency }));
    return rows.length > 0;
  }

  rememberNew(tx: Transaction, events: readonly ProviderEvent[]): Promise<void> {
    return inside(tx).write(REMEMBER_NEW_EVENTS.with({ events: JSON.stringify(events) }));
  }
}
