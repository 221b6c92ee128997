import type { Transaction } from '#application/transaction-manager';

export interface ProviderEvent {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | undefined;
  readonly outcome: string;
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/** Remembers the provider's events. */
export abstract class PaymentInbox {
  /** False when this one has already taken effect. */
  abstract remember(tx: Transaction, event: ProviderEvent): Promise<boolean>;
  /** Fails, and the transaction with it, when one of them has. */
  abstract rememberNew(tx: Transaction, events: readonly ProviderEvent[]): Promise<void>;
}
