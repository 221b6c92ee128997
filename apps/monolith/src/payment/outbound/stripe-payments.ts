import type { Clock } from '#application/clock';
import { assertOutsideTransaction } from '#platform/postgres/open-transaction';
import { z } from 'zod';
import type { PaymentIntent } from '../payment.api.ts';
import { PaymentProvider } from '../payment-provider.ts';
import { paymentRefused, ProviderUnavailable, ProviderRefused } from './provider-errors.ts';
import type { StripeClient } from './stripe-client.ts';

const intent = z.object({ id: z.string().regex(/^pi_\w{1,250}$/), client_secret: z.string().min(1) });
const refund = z.object({
  id: z.string(),
  status: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable().default({}),
});
const refundList = z.object({ data: z.array(refund) });

/** The error types of Stripe that mean: this payment is refused. */
const PAYMENT_REFUSALS = new Set(['card_error', 'invalid_request_error']);

/** The metadata field in which Stripe keeps the key of a refund for ever. Stripe may forget idempotency keys after a day. */
const REFUND_KEY = 'refund_key';

/** Payments over Stripe's HTTP API. We need only four calls, so we do not use Stripe's SDK. */
export class StripePayments extends PaymentProvider {
  constructor(
    private readonly client: StripeClient,
    webhookSecret: string,
    clock: Clock,
  ) {
    super(webhookSecret, clock);
  }

  async createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<PaymentIntent> {
    assertOutsideTransaction('A payment intent');
    const { id, client_secret } = await this.client
      .call({
        method: 'POST',
        path: 'payment_intents',
        key: order.orderId,
        fields: {
          amount: String(order.amountCents),
          currency: order.currency.toLowerCase(),
          'automatic_payment_methods[enabled]': 'true',
          'metadata[order_id]': order.orderId,
        },
        answer: intent,
      })
      .catch(asRefusedIntent);
    return { provider: 'stripe', intentId: id, clientSecret: client_secret };
  }

  async refund({ intentId, amountCents, key }: { intentId: string; amountCents: number; key: string }): Promise<void> {
    assertOutsideTransaction('A refund');
    const refunds = await this.client.call({
      method: 'GET',
      path: 'refunds',
      fields: { payment_intent: intentId, limit: '100' },
      answer: refundList,
    });
    const earlier = refunds.data.find(({ metadata }) => metadata?.[REFUND_KEY] === key);
    const result = earlier ?? (await this.createRefund({ intentId, amountCents, key }));
    if (result?.status === 'failed' || result?.status === 'canceled')
      throw new ProviderRefused(`refund ${result.id} is ${result.status}`);
  }

  async cancel(intentId: string): Promise<void> {
    assertOutsideTransaction('The cancellation of a payment');
    await this.client
      .call({
        method: 'POST',
        path: `payment_intents/${encodeURIComponent(intentId)}/cancel`,
        fields: { cancellation_reason: 'abandoned' },
        answer: z.object({ id: z.string() }),
      })
      // The intent was paid or canceled before, or is being paid now. A payment event will report which of these it is.
      .catch(ignoreRefusal('payment_intent_unexpected_state'));
  }

  private createRefund({ intentId, amountCents, key }: { intentId: string; amountCents: number; key: string }) {
    return (
      this.client
        .call({
          method: 'POST',
          path: 'refunds',
          key,
          fields: { payment_intent: intentId, amount: String(amountCents), [`metadata[${REFUND_KEY}]`]: key },
          answer: refund,
        })
        // Ignored, because the whole payment was already refunded by hand.
        .catch(ignoreRefusal('charge_already_refunded'))
    );
  }
}

/**
 * Converts Stripe's refusal of an intent. If Stripe refuses the payment (amount too small or too large, unsupported currency,
 * declined card), the fan gets PAYMENT_REFUSED. `idempotency_error` means that we sent another amount for the same order, which is
 * our mistake. Any other 400, 402 or 404 does not come from Stripe's API, but from a proxy or a wrong base address: an outage.
 */
function asRefusedIntent(error: unknown): never {
  if (!(error instanceof ProviderRefused)) throw error;
  const { status = 0, type = '' } = error.answer ?? {};
  if (type === 'idempotency_error') throw error;
  if (status === 404 || !PAYMENT_REFUSALS.has(type)) throw new ProviderUnavailable(error.message, false, error);
  throw paymentRefused(error.code ?? type);
}

/** An error handler that ignores a refusal with this code and rethrows every other error. */
function ignoreRefusal(code: string): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof ProviderRefused && error.code === code) return undefined;
    throw error;
  };
}
