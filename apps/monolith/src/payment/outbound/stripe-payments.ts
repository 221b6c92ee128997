import type { Clock } from '#application/clock';
import { mustBeOutsideTransaction } from '#platform/postgres/open-transaction';
import { z } from 'zod';
import type { PaymentEvent, PaymentIntent } from '../payment.api.ts';
import { PaymentProvider } from '../application/ports.ts';
import { paymentRefused, ProviderAway, ProviderRefused } from './provider-errors.ts';
import type { StripeClient } from './stripe-client.ts';
import { readEvent, readWebhook } from './webhooks.ts';

const intent = z.object({ id: z.string().regex(/^pi_\w{1,250}$/), client_secret: z.string().min(1) });
const refund = z.object({
  id: z.string(),
  status: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable().default({}),
});
const refundList = z.object({ data: z.array(refund) });

/** Groups of Stripe's refusals that are about the payment that was asked for. */
const PAYMENT_REFUSALS = new Set(['card_error', 'invalid_request_error']);

/** Where the key of a refund stands at Stripe for ever; its memory of idempotency keys may end after a day. */
const REFUND_KEY = 'refund_key';

/** Stripe's documented HTTP interface; no SDK for four calls. */
export class StripePayments extends PaymentProvider {
  constructor(
    private readonly client: StripeClient,
    private readonly webhookSecret: string,
    private readonly clock: Clock,
  ) {
    super();
  }

  async createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<PaymentIntent> {
    mustBeOutsideTransaction('A payment intent');
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
    mustBeOutsideTransaction('A refund');
    const given = await this.client.call({
      method: 'GET',
      path: 'refunds',
      fields: { payment_intent: intentId, limit: '100' },
      answer: refundList,
    });
    const earlier = given.data.find(({ metadata }) => metadata?.[REFUND_KEY] === key);
    const made = earlier ?? (await this.createRefund({ intentId, amountCents, key }));
    if (made?.status === 'failed' || made?.status === 'canceled')
      throw new ProviderRefused(`refund ${made.id} is ${made.status}`);
  }

  async cancel(intentId: string): Promise<void> {
    mustBeOutsideTransaction('The cancellation of a payment');
    await this.client
      .call({
        method: 'POST',
        path: `payment_intents/${encodeURIComponent(intentId)}/cancel`,
        fields: { cancellation_reason: 'abandoned' },
        answer: z.object({ id: z.string() }),
      })
      // Paid or canceled before, or just being paid: its own event tells which.
      .catch(unless('payment_intent_unexpected_state'));
  }

  readWebhook(rawBody: Buffer, signature: string | undefined): PaymentEvent {
    return readWebhook({ rawBody, signature, secret: this.webhookSecret, now: this.clock.now() });
  }

  readEvent(event: unknown): PaymentEvent {
    return readEvent(event);
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
        // Somebody gave all of it back by hand.
        .catch(unless('charge_already_refunded'))
    );
  }
}

/**
 * What Stripe's refusal of an intent means. A refusal of this payment (too small, too large, a currency it does not take, a card
 * that is declined) is for the fan. `idempotency_error` says that we asked for the same order with another amount: our own
 * mistake. Anything else that comes with 400, 402 or 404 is not Stripe's answer to an intent: a wrong base address or a proxy.
 */
function asRefusedIntent(error: unknown): never {
  if (!(error instanceof ProviderRefused)) throw error;
  const { status = 0, type = '' } = error.answer ?? {};
  if (type === 'idempotency_error') throw error;
  if (status === 404 || !PAYMENT_REFUSALS.has(type)) throw new ProviderAway(error.message, false, error);
  throw paymentRefused(error.code ?? type);
}

function unless(code: string): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof ProviderRefused && error.code === code) return undefined;
    throw error;
  };
}
