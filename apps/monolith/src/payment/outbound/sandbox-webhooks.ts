import type { Clock } from '#application/clock';
import { callHttp, isSuccess } from '#platform/http-client/http-client';
import { assertOutsideTransaction } from '#platform/postgres/open-transaction';
import { requestIdHeader } from '#platform/tracing/origin';
import type { Delivery, Destination, RelayedMessage } from '#messaging/outbox/destination';
import { SANDBOX_WEBHOOK_DESTINATION } from '../payment-provider.ts';
import { deliverEach } from './deliver-each.ts';
import { ProviderUnavailable } from './provider-errors.ts';
import { signWebhook } from './webhooks.ts';

const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends each event of the sandbox to the shop until the shop answers 2xx. `shopUrl` is an address inside the installation, because
 * the public address may be reachable only from outside (a proxy, NAT). An event is signed when it is sent, because a signature
 * would expire in the outbox.
 */
export class SandboxWebhooks implements Destination {
  readonly name = SANDBOX_WEBHOOK_DESTINATION;
  readonly batchSize = 64;
  private readonly url: URL;

  constructor(
    private readonly clock: Clock,
    private readonly options: { shopUrl: string; webhookSecret: string; timeoutMs?: number },
  ) {
    this.url = new URL(`${options.shopUrl}/api/v1/payments/webhooks/stripe`);
  }

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    assertOutsideTransaction('A webhook');
    return deliverEach(
      messages,
      (message) => this.post(message),
      (error) => (error instanceof ProviderUnavailable ? 'outage' : 'failed'),
    );
  }

  private async post({ body }: RelayedMessage): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(body));
    const answer = await callHttp({
      method: 'POST',
      url: this.url,
      headers: { 'stripe-signature': signWebhook(bytes, this.options.webhookSecret, this.clock.now()), ...requestIdHeader() },
      body: bytes,
      timeoutMs: this.options.timeoutMs ?? TIMEOUT_MS,
      limitBytes: MAX_ANSWER_BYTES,
      whenLarger: 'cut',
    }).catch((error: unknown) => {
      throw new ProviderUnavailable('the shop does not answer the webhook', false, error);
    });
    if (!isSuccess(answer)) throw new Error(`the shop answered the webhook with ${answer.status}`);
  }
}
