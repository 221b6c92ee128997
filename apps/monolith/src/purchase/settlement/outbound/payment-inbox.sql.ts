import { namedSql } from '#platform/postgres/named-sql';

/*
 * The table `payment_inbox`: one row for each event of the payment provider, written in the transaction that applies the event.
 * Guarantee: an event takes effect once.
 */

interface PaymentEvent {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | null;
  readonly outcome: string;
  readonly amountCents: number | null;
  readonly currency: string | null;
}

/**
 * Records one payment event. Waits while another transaction records the same event. Returns no row if it is already recorded.
 */
export const REMEMBER_EVENT = namedSql<PaymentEvent>(
  'remember-payment-event',
  `
  insert into payment_inbox (event_id, type, intent_id, outcome, amount_cents, currency)
  values (:eventId, :type, :intentId, :outcome, :amountCents, :currency)
  on conflict (event_id) do nothing returning 1`,
);

/**
 * Records the payment events of a batch; `events` is a JSON array. It has no `on conflict`: if one event is already recorded, the
 * whole transaction fails, and then the caller settles each event in a transaction of its own.
 */
export const REMEMBER_NEW_EVENTS = namedSql<{ readonly events: string }>(
  'remember-new-payment-events',
  `
  insert into payment_inbox (event_id, type, intent_id, outcome, amount_cents, currency)
  select "eventId", type, "intentId", outcome, "amountCents", currency
  from jsonb_to_recordset(:events::jsonb)
    as e("eventId" text, type text, "intentId" text, outcome text, "amountCents" bigint, currency text)`,
);
