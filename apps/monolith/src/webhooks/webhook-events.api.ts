import type { Origin } from '#application/origin';
import type { Transaction } from '#application/transaction-manager';
import type { WebhookEventType } from '#contracts/webhook-events';

/** An event that partners may want to know of. */
export interface PartnerEvent {
  readonly type: WebhookEventType;
  /** The order, match, … that the event is about. Its events arrive in the order in which they happened. */
  readonly subjectId: string;
  /** What partners get, in the format of the API. It never names a fan. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The request that has caused it, if it is not the current one. */
  readonly origin?: Origin | undefined;
}

/** Tells partners by webhook what has happened. */
export abstract class WebhookEvents {
  /**
   * Writes the events to the outbox, in the transaction that causes them. Writes nothing if nobody wants to know of them, so that a
   * purchase costs no more than without webhooks.
   */
  abstract tell(tx: Transaction, events: readonly PartnerEvent[]): Promise<void>;
}
