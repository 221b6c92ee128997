import type { Clock } from '#application/clock';
import { mustBeOutsideTransaction } from '#platform/postgres/open-transaction';
import type { Delivery, Destination, RelayedMessage } from '#platform/outbox/destination';
import { SANDBOX_WEBHOOK_DESTINATION } from '../application/ports.ts';
import { deliverEach } from './deliver-each.ts';
import { ProviderAway } from './provider-errors.ts';
import { signWebhook } from './webhooks.ts';

const TIMEOUT_MS = 5000;

/** The sandbox's messenger: signs when it sends, as a signature grows old in the outbox, and repeats until it hears 2xx. */
export class SandboxWebhooks implements Destination {
  readonly name = SANDBOX_WEBHOOK_DESTINATION;
  readonly batchSize = 20;

  constructor(
    private readonly clock: Clock,
    private readonly options: { publicUrl: string; webhookSecret: string; timeoutMs?: number },
  ) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    mustBeOutsideTransaction('A webhook');
    return deliverEach(
      messages,
      (message) => this.post(message),
      (error) => (error instanceof ProviderAway ? 'nobody' : 'failed'),
    );
  }

  private async post({ body }: RelayedMessage): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(body));
    const response = await fetch(`${this.options.publicUrl}/api/v1/payments/webhooks/stripe`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'stripe-signature': signWebhook(bytes, this.options.webhookSecret, this.clock.now()),
      },
      body: bytes,
      redirect: 'manual',
      signal: AbortSignal.timeout(this.options.timeoutMs ?? TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new ProviderAway('the shop does not answer its webhook', false, error);
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the shop answered its webhook ${response.status}`);
  }
}
