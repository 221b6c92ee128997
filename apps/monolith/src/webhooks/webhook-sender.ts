import type { Clock } from '#application/clock';
import { HttpCallFailed } from '#platform/http-client/http-call-failed';
import { callHttp, isSuccess } from '#platform/http-client/http-client';
import { PRIVATE_ADDRESS } from '#platform/http-client/public-addresses';
import type { Logger } from '#platform/logging/logger';
import { createHmac } from 'node:crypto';
import type { DueDelivery, PostgresWebhooks } from './postgres-webhooks.ts';

/** How many deliveries one webhook gets at the same time. */
const BATCH = 20;
/** A receiver that takes longer counts as unreachable. Less than the minute for which a claimed delivery is reserved. */
const TIMEOUT_MS = 10_000;
/** An answer is only looked at for its status. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** The pauses after the first attempts; later ones are an hour apart. */
const PAUSES_SECONDS = [5, 30, 120, 600, 1800];
const LATER_PAUSE_SECONDS = 3600;

/**
 * Sends due deliveries to the webhooks of partners, each webhook by itself, so that a slow one delays no other. Any number of
 * processes may send: each delivery is claimed in the database. It is sent at least once; its `id` says when it is a repetition.
 */
export class WebhookSender {
  /** The webhooks to which this process is sending. */
  private readonly sending = new Map<string, Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly webhooks: PostgresWebhooks,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: { readonly publicOnly: boolean },
  ) {}

  /** Starts to send what is due, and does not wait for the receivers. */
  async start(): Promise<void> {
    for (const id of await this.webhooks.withDue()) {
      if (this.isStopping || this.sending.has(id)) continue;
      const sending = this.sendAll(id)
        .catch((error: unknown) => this.logger.warn({ err: error, webhook_id: id }, 'sending to a webhook failed'))
        .finally(() => this.sending.delete(id));
      this.sending.set(id, sending);
    }
  }

  /** Waits until nothing is being sent. */
  async idle(): Promise<void> {
    await Promise.all(this.sending.values());
  }

  /** Sends nothing more, and waits for the calls under way. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.idle();
  }

  private async sendAll(webhookId: string): Promise<void> {
    while (!this.isStopping) {
      const due = await this.webhooks.claim(webhookId, BATCH);
      if (due.length === 0) return;
      await Promise.all(due.map((delivery) => this.send(webhookId, delivery)));
    }
  }

  private async send(webhookId: string, delivery: DueDelivery): Promise<void> {
    const { status, error } = await this.call(delivery);
    if (error === undefined) return this.webhooks.markDelivered(delivery.id, status!);
    const afterSeconds = PAUSES_SECONDS[delivery.attempts - 1] ?? LATER_PAUSE_SECONDS;
    const isGivenUp = await this.webhooks.markNotAccepted({ id: delivery.id, status, error, afterSeconds });
    if (isGivenUp)
      this.logger.error({ webhook_id: webhookId, delivery_id: delivery.id, reason: error }, 'webhook delivery given up');
  }

  /** The status of the answer, if there is one, and why the delivery is not accepted. */
  private async call({ url, body, secret }: DueDelivery): Promise<{ status: number | null; error?: string }> {
    try {
      const headers = { 'tribina-signature': signatureOf(body, secret, this.clock.now()) };
      const limits = { limitBytes: MAX_ANSWER_BYTES, whenLarger: 'cut' as const, timeoutMs: TIMEOUT_MS };
      const answer = await callHttp({ method: 'POST', url, body, headers, ...limits, publicOnly: this.options.publicOnly });
      return isSuccess(answer) ? { status: answer.status } : { status: answer.status, error: `answered ${answer.status}` };
    } catch (error) {
      if (!(error instanceof HttpCallFailed)) throw error;
      return { status: error.status ?? null, error: reasonOf(error) };
    }
  }
}

/** The header `Tribina-Signature`: the scheme of Stripe, so that partners can check it with Stripe's own libraries. */
export function signatureOf(body: string, secret: string, now: Date): string {
  const timestamp = Math.floor(now.getTime() / 1000);
  return `t=${timestamp},v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

function reasonOf({ code }: HttpCallFailed): string {
  if (code === PRIVATE_ADDRESS) return 'the address is not on the public internet';
  return code === 'timeout' ? `no answer within ${TIMEOUT_MS / 1000} seconds` : `no connection (${code})`;
}
