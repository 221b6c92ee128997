import type { Clock } from '#application/clock';
import { readEvent, readWebhook } from './outbound/webhooks.ts';
import { PaymentApi, type PaymentEvent } from './payment.api.ts';

/** The payment provider. Other contexts call `PaymentApi` directly; they request refunds and cancellations through the outbox. */
export abstract class PaymentProvider extends PaymentApi {
  constructor(
    private readonly webhookSecret: string,
    protected readonly clock: Clock,
  ) {
    super();
  }

  /** Refunds the amount once for each key, however often it is called with that key. */
  abstract refund(refund: { intentId: string; amountCents: number; key: string }): Promise<void>;
  /** Cancels an intent, so that it can no longer be paid. Does nothing if it was paid or canceled before. */
  abstract cancel(intentId: string): Promise<void>;

  readWebhook(rawBody: Buffer, signature: string | undefined): PaymentEvent {
    return readWebhook({ rawBody, signature, secret: this.webhookSecret, now: this.clock.now() });
  }

  readEvent(event: unknown): PaymentEvent {
    return readEvent(event);
  }
}

/** Outbox destination for the events that the sandbox sends to the shop. */
export const SANDBOX_WEBHOOK_DESTINATION = 'sandbox-webhook';
