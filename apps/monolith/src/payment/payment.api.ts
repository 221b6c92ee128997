export interface PaymentIntent {
  readonly provider: 'sandbox' | 'stripe';
  readonly intentId: string;
  readonly clientSecret: string;
  /** Only the sandbox has one: where its outcome is chosen. */
  readonly confirmUrl?: string;
}

/** What the provider tells about an intent; who it is from was checked: by its signature, or because we fetched it there. */
export interface PaymentEvent {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | undefined;
  /** What we called the order when we made the intent. */
  readonly orderId?: string;
  /** `other`: recorded and ignored. */
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'other';
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/** The payment provider, whichever it is. Calls go over the network: never inside a transaction, each with its own key. */
export abstract class PaymentApi {
  /** Same order, same intent, however often it is asked. */
  abstract createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<PaymentIntent>;
  /** Checks the signature over the raw bytes; throws `RequestRefused('VALIDATION_FAILED')` (400) when it does not fit. */
  abstract readWebhook(rawBody: Buffer, signature: string | undefined): PaymentEvent;
  /** The same event as the provider's own list has it; it was fetched there, so nothing has to be signed. */
  abstract readEvent(event: unknown): PaymentEvent;
}

/** Outbox destination `payments`: what is done at the provider after our commit, once each whatever is repeated. */
export const PAYMENTS_DESTINATION = 'payments';

export type PaymentCommand =
  | { readonly kind: 'refund'; readonly intentId: string; readonly amountCents: number; readonly key: string }
  | { readonly kind: 'cancel'; readonly intentId: string };
