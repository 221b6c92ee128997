import type { Clock } from '#application/clock';
import type { TransactionManager } from '#application/transaction-manager';
import { cancelSandboxIntent, refundSandboxIntent, type NewSandboxIntent, type SandboxIntent } from '../domain/sandbox-intent.ts';
import { assertOutsideTransaction } from '#platform/postgres/open-transaction';
import { randomBytes } from 'node:crypto';
import type { PaymentIntent } from '../payment.api.ts';
import { PaymentProvider } from '../payment-provider.ts';
import { ProviderRefused } from '../outbound/provider-errors.ts';
import type { SandboxIntents } from './sandbox-intents.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * The largest multiple of 62 that fits into a byte. A random byte at or above it is drawn again. Otherwise the first letters of the
 * alphabet would be more likely than the others.
 */
const BYTE_LIMIT = 256 - (256 % BASE62.length);

function randomText(length: number): string {
  let text = '';
  while (text.length < length)
    for (const byte of randomBytes(length - text.length)) if (byte < BYTE_LIMIT) text += BASE62[byte % BASE62.length];
  return text;
}

/**
 * A payment provider of our own for development and tests. It keeps its own intents in its own transactions, and the shop uses it
 * like Stripe: the sandbox sends its events as signed webhooks. During a checkout its transactions are steps of the same request
 * (`stepTogether`, `runStep`). They store no answer for the request's idempotency key, because the checkout does that.
 */
export class SandboxPayments extends PaymentProvider {
  private readonly add: (intent: NewSandboxIntent) => Promise<SandboxIntent>;

  constructor(
    private readonly transactions: TransactionManager,
    private readonly intents: SandboxIntents,
    clock: Clock,
    private readonly options: { publicUrl: string; webhookSecret: string },
  ) {
    super(options.webhookSecret, clock);
    this.add = transactions.stepTogether({
      many: async (tx, newIntents) => {
        const added = await intents.addNew(tx, newIntents);
        return newIntents.map(({ id }) => added.get(id));
      },
      one: (tx, newIntent) => intents.addOnce(tx, newIntent),
    });
  }

  async createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<PaymentIntent> {
    assertOutsideTransaction('A payment intent');
    const id = `pi_${randomText(24)}`;
    const intent = await this.add({ ...order, id, clientSecret: `${id}_secret_${randomText(24)}` });
    if (intent.amountCents !== order.amountCents || intent.currency !== order.currency) {
      throw new ProviderRefused('this order has an intent for another amount');
    }
    return {
      provider: 'sandbox',
      intentId: intent.id,
      clientSecret: intent.clientSecret,
      confirmUrl: `${this.options.publicUrl}/api/v1/sandbox/payments/${intent.id}/confirm`,
    };
  }

  async refund({ intentId, amountCents, key }: { intentId: string; amountCents: number; key: string }): Promise<void> {
    assertOutsideTransaction('A refund');
    await this.transactions.runStep(async (tx) => {
      const intent = await this.intents.lock(tx, intentId);
      if (!intent) throw new ProviderRefused('no such intent', 'resource_missing');
      const refunds = await this.intents.refunds(tx, intentId);
      if (refunds.some((refund) => refund.key === key)) return;
      const refundedCents = refunds.reduce((sum, refund) => sum + refund.amountCents, 0);
      const status = refundSandboxIntent({ ...intent, refundedCents }, amountCents);
      if (!status) throw new ProviderRefused('the refund is more than the amount that was paid and not refunded yet');
      await this.intents.addRefund(tx, { key, intentId, amountCents });
      await this.intents.setStatus(tx, [intentId], status);
    });
  }

  async cancel(intentId: string): Promise<void> {
    assertOutsideTransaction('The cancellation of a payment');
    await this.transactions.runStep(async (tx) => {
      const intent = await this.intents.lock(tx, intentId);
      if (!intent) throw new ProviderRefused('no such intent', 'resource_missing');
      const status = cancelSandboxIntent(intent.status);
      if (status) await this.intents.setStatus(tx, [intentId], status);
    });
  }
}
