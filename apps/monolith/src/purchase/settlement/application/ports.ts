import type { Transaction } from '#application/transaction-manager';

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
  /** Records an event. False if it was recorded before: then it must not take effect again. */
  abstract remember(tx: Transaction, event: ProviderEvent): Promise<boolean>;
  /** Records events that should be new. Fails, and rolls back the transaction, if one of them was recorded before. */
  abstract rememberNew(tx: Transaction, events: readonly ProviderEvent[]): Promise<void>;
}
