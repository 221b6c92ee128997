import type { Clock } from '#application/clock';
import { assertOutsideTransaction } from '#platform/postgres/open-transaction';
import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import type { Delivery, Destination, RelayedMessage } from '#messaging/outbox/destination';
import { SANDBOX_WEBHOOK_DESTINATION } from '../payment-provider.ts';
import { deliverEach } from './deliver-each.ts';
import { ProviderUnavailable } from './provider-errors.ts';
import { signWebhook } from './webhooks.ts';

const TIMEOUT_MS = 5000;

/**
 * Sends each event of the sandbox to the shop until the shop answers 2xx. An event is signed when it is sent, because a signature
 * would expire in the outbox.
 */
export class SandboxWebhooks implements Destination {
  readonly name = SANDBOX_WEBHOOK_DESTINATION;
  readonly batchSize = 64;
  private readonly connection: WebhookConnection;

  constructor(
    private readonly clock: Clock,
    private readonly options: { publicUrl: string; webhookSecret: string; timeoutMs?: number },
  ) {
    this.connection = new WebhookConnection(options.publicUrl, options.timeoutMs ?? TIMEOUT_MS);
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
    const status = await this.connection
      .post(bytes, signWebhook(bytes, this.options.webhookSecret, this.clock.now()))
      .catch((error: unknown) => {
        throw new ProviderUnavailable('the shop does not answer the webhook', false, error);
      });
    if (status < 200 || status > 299) throw new Error(`the shop answered the webhook with ${status}`);
  }
}

/** Posts webhooks over kept-alive connections. We do not use `fetch`, which costs three times as much per request. */
class WebhookConnection {
  /** The webhook's URL, parsed once: parsing a URL costs a tenth of a request. */
  private readonly target: http.RequestOptions;
  private readonly request: typeof http.request;

  constructor(
    publicUrl: string,
    private readonly timeoutMs: number,
  ) {
    const url = new URL(`${publicUrl}/api/v1/payments/webhooks/stripe`);
    const scheme = url.protocol === 'https:' ? https : http;
    this.request = scheme.request;
    const agent = new scheme.Agent({ keepAlive: true });
    this.target = { ...urlToHttpOptions(url), method: 'POST', agent, timeout: timeoutMs };
  }

  post(bytes: Buffer, signature: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': bytes.length, 'stripe-signature': signature };
      const sent = this.request({ ...this.target, headers }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
        answer.once('error', reject);
      });
      sent.once('timeout', () => sent.destroy(new Error(`no answer within ${this.timeoutMs} ms`)));
      sent.once('error', reject);
      sent.end(bytes);
    });
  }
}
