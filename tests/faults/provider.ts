import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeStripe } from '../../apps/monolith/src/payment/testing/fake-stripe.ts';
import type { Ordered } from './fan.ts';
import type { Scene } from './scene.ts';

const SECRET = 'whsec_of_the_fault_suite_0000000000000';
const WEBHOOK = '/api/v1/payments/webhooks/stripe';

/** A fake payment provider (Stripe) with its own records of payments. The orders of the service must agree with these records. */
export class Provider {
  readonly #peer = new FakeStripe();
  readonly #scene: Scene;
  #url = '';

  private constructor(scene: Scene) {
    this.#scene = scene;
  }

  static async start(scene: Scene): Promise<Provider> {
    const provider = new Provider(scene);
    provider.#url = await provider.#peer.start();
    scene.onClose(() => provider.#peer.stop());
    return provider;
  }

  get url(): string {
    return this.#url;
  }

  settings(url: string): Record<string, string> {
    const key = this.#peer.secretKey;
    return { PAYMENT_PROVIDER: 'stripe', STRIPE_API_BASE: url, STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: SECRET };
  }

  /** Marks the intent as paid. The service learns of the payment only by `sendEvent`. */
  pay({ intentId }: Ordered): void {
    this.#peer.pay(intentId);
  }

  /** Sends the payment event to the service once. True if the service accepted it. */
  async sendEvent({ intentId }: Ordered): Promise<boolean> {
    const intent = this.#peer.intents.get(intentId);
    const event = { id: `evt_${intentId}`, type: 'payment_intent.succeeded', data: { object: intent } };
    const body = JSON.stringify(event);
    const at = Math.floor(Date.now() / 1000);
    const signature = `t=${at},v1=${createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex')}`;
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    try {
      const url = `${this.#scene.nextReplica()?.url}${WEBHOOK}`;
      const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(20_000) });
      await answer.text();
      return answer.ok;
    } catch {
      return false;
    }
  }

  /** Sends the event again until the service accepts it, like real providers do. */
  async sendEventUntilAccepted(order: Ordered, withinMs: number): Promise<boolean> {
    const giveUpAt = Date.now() + withinMs;
    while (!(await this.sendEvent(order))) {
      if (Date.now() > giveUpAt) return false;
      await sleep(200);
    }
    return true;
  }

  /**
   * Compares the records with the completed orders. Faults are captured money without a completed order and without a refund (invariant
   * I4 of research/reliability.md), and orders with two intents.
   */
  async faults(completed: ReadonlySet<string>): Promise<string[]> {
    const faults: string[] = [];
    const intentOf = new Map<string, string>();
    for (const { id, status, amount, metadata } of this.#peer.intents.values()) {
      const order = metadata.order_id ?? '';
      if (intentOf.has(order)) faults.push(`order ${order} has the intents ${intentOf.get(order)} and ${id}`);
      intentOf.set(order, id);
      if (status !== 'succeeded') continue;
      const refunded = this.#peer.refunds
        .filter((refund) => refund.payment_intent === id)
        .reduce((sum, { amount: cents }) => sum + cents, 0);
      const refundDue = completed.has(order) ? 0 : amount;
      if (refunded !== refundDue)
        faults.push(`${id} captured ${amount} for order ${order}, ${refunded} was refunded instead of ${refundDue}`);
    }
    return faults;
  }
}
