import type { Transaction } from '#application/transaction-manager';

/** An event of the payment provider that reports what became of a payment. */
export interface PaymentReport {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | undefined;
  /** The order id that we sent to the provider when the intent was created. It is not recorded. */
  readonly orderId?: string;
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'other';
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/** Records which events of the payment provider have taken effect, so that a repeated event is recognised. */
export abstract class PaymentInbox {
  /** Records an event in this transaction. False if the event was recorded before: then it must not take effect again. */
  abstract remember(tx: Transaction, event: PaymentReport): Promise<boolean>;
  /**
   * Records events that are expected to be new. Fails, and rolls back the transaction, if one of the events was recorded before.
   */
  abstract rememberNew(tx: Transaction, events: readonly PaymentReport[]): Promise<void>;
}
