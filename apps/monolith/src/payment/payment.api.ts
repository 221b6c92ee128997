/** What a fan needs to pay for an order at the provider. */
export interface PaymentIntent {
  readonly provider: 'sandbox' | 'stripe';
  readonly intentId: string;
  readonly clientSecret: string;
  /** The URL where the outcome of the payment is chosen. Only the sandbox has one. */
  readonly confirmUrl?: string;
}

/**
 * An event of the provider about a payment intent. The event is authentic: its signature was checked, or we fetched it from the
 * provider.
 */
export interface PaymentEvent {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | undefined;
  /** The order id that we gave the intent when we created it. */
  readonly orderId?: string;
  /** `other`: the event is recorded and otherwise ignored. */
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'other';
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/** The payment provider: Stripe or the sandbox. Calls go over the network, so never make them inside a transaction. */
export abstract class PaymentApi {
  /** Creates the intent of an order. Repeated calls for the same order return the same intent. */
  abstract createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<PaymentIntent>;
  /**
   * Checks the signature over the raw bytes and parses them. Throws `RequestRefused('VALIDATION_FAILED')` (400) if either fails.
   */
  abstract readWebhook(rawBody: Buffer, signature: string | undefined): PaymentEvent;
  /** Parses an event that we fetched from the provider's list of events. The event needs no signature. */
  abstract readEvent(event: unknown): PaymentEvent;
}

/**
 * Outbox destination for commands to the payment provider. Commands run after our commit, and a repeated command has no second
 * effect.
 */
export const PAYMENTS_DESTINATION = 'payments';

/** A command to the payment provider, as it is written to the outbox. */
export type PaymentCommand =
  | { readonly kind: 'refund'; readonly intentId: string; readonly amountCents: number; readonly key: string }
  | { readonly kind: 'cancel'; readonly intentId: string };
