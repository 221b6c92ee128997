import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StripePeer } from '../../apps/monolith/src/payment/testing/stripe-peer.ts';
import type { Ordered } from './fan.ts';
import type { Scene } from './scene.ts';

const SECRET = 'whsec_of_the_fault_suite_0000000000000';
const WEBHOOK = '/api/v1/payments/webhooks/stripe';

/** A payment provider outside of the service, with books of its own: what it captured is what must have become of an order. */
export class Provider {
  readonly #peer = new StripePeer();
  readonly #scene: Scene;
  #url = '';

  private constructor(scene: Scene) {
    this.#scene = scene;
  }

  static async start(scene: Scene): Promise<Provider> {
    const provider = new Provider(scene);
    provider.#url = await provider.#peer.start();
    scene.atTheEnd(() => provider.#peer.stop());
    return provider;
  }

  get url(): string {
    return this.#url;
  }

  settings(url: string): Record<string, string> {
    const key = this.#peer.secretKey;
    return { PAYMENT_PROVIDER: 'stripe', STRIPE_API_BASE: url, STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: SECRET };
  }

  /** The fan pays; what is left is to tell the shop. */
  pay({ intentId }: Ordered): void {
    this.#peer.pay(intentId);
  }

  /** Tells the shop of the payment, by one event, once; true when the shop has taken note. */
  async tell({ intentId }: Ordered): Promise<boolean> {
    const intent = this.#peer.intents.get(intentId);
    const event = { id: `evt_${intentId}`, type: 'payment_intent.succeeded', data: { object: intent } };
    const body = JSON.stringify(event);
    const at = Math.floor(Date.now() / 1000);
    const signature = `t=${at},v1=${createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex')}`;
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    try {
      const url = `${this.#scene.anyReplica()?.url}${WEBHOOK}`;
      const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(20_000) });
      await answer.text();
      return answer.ok;
    } catch {
      return false;
    }
  }

  /** Again and again until the shop has taken note, as providers do. */
  async insist(order: Ordered, withinMs: number): Promise<boolean> {
    const giveUpAt = Date.now() + withinMs;
    while (!(await this.tell(order))) {
      if (Date.now() > giveUpAt) return false;
      await sleep(200);
    }
    return true;
  }

  /** Captured money without a completed order and without a refund (I4), and orders with two intents. */
  async faults(completed: ReadonlySet<string>): Promise<string[]> {
    const faults: string[] = [];
    const intentOf = new Map<string, string>();
    for (const { id, status, amount, metadata } of this.#peer.intents.values()) {
      const order = metadata.order_id ?? '';
      if (intentOf.has(order)) faults.push(`order ${order} has the intents ${intentOf.get(order)} and ${id}`);
      intentOf.set(order, id);
      if (status !== 'succeeded') continue;
      const back = this.#peer.refunds.filter((refund) => refund.payment_intent === id).reduce((sum, one) => sum + one.amount, 0);
      const owed = completed.has(order) ? 0 : amount;
      if (back !== owed) faults.push(`${id} captured ${amount} for order ${order}, ${back} went back and ${owed} should have`);
    }
    return faults;
  }
}
