import type { Transaction } from '#application/transaction-manager';

/** An event of the payment provider, with the fields that are recorded. */
export interface ProviderEvent {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | undefined;
  readonly outcome: string;
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/** Records which events of the payment provider have taken effect, so that a repeated event is recognised. */
export abstract class PaymentInbox {
  /** Records an event in this transaction. False if the event was recorded before: then it must not take effect again. */
  abstract remember(tx: Transaction, event: ProviderEvent): Promise<boolean>;
  /**
   * Records events that are expected to be new. Fails, and rolls back the transaction, if one of the events was recorded before.
   */
  abstract rememberNew(tx: Transaction, events: readonly ProviderEvent[]): Promise<void>;
}
