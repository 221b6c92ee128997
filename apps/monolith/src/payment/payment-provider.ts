import { PaymentApi } from './payment.api.ts';

/** The payment provider. Other contexts call `PaymentApi` directly; they request refunds and cancellations through the outbox. */
export abstract class PaymentProvider extends PaymentApi {
  /** Refunds the amount once for each key, however often it is called with that key. */
  abstract refund(refund: { intentId: string; amountCents: number; key: string }): Promise<void>;
  /** Cancels an intent, so that it can no longer be paid. Does nothing if it was paid or canceled before. */
  abstract cancel(intentId: string): Promise<void>;
}

/** Outbox destination for the events that the sandbox sends to the shop. */
export const SANDBOX_WEBHOOK_DESTINATION = 'sandbox-webhook';
