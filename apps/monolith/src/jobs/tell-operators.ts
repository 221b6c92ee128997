import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { JobHandler } from '#application/jobs';
import { Outbox, type OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { EmailJob } from '#contracts/queue-jobs';
import type { AlertOperators } from '#domain/notification/alert-operators';
import type { JobKind } from '#messaging/jobs/job-runner';
import { alertBody } from '#messaging/sending/alerts';
import { ProviderCalls } from '#messaging/sending/provider-calls';
import type { Logger } from '#platform/logging/logger';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { MonolithConfig } from '../config.ts';
import { CONFIG, LOGGER } from '../tokens.ts';

const TIMEOUT_MS = 5000;

/** Sends an alert to the operators. Alerts are jobs, so they survive a crash and are retried if the webhook does not answer. */
@Injectable()
export class TellOperators extends JobHandler<AlertOperators, void> {
  readonly class = 'alert_operators';

  constructor(
    @Inject(CONFIG) private readonly config: Pick<MonolithConfig, 'ALERT_EMAIL' | 'ALERT_WEBHOOK_URL'>,
    private readonly webhookCalls: ProviderCalls,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {
    super();
  }

  /**
   * Posts the alert to ALERT_WEBHOOK_URL in a form that Slack and similar services accept. Without the setting alerts are only
   * logged. Throws if the webhook did not accept the alert. An alert may be sent twice, with the same job id.
   */
  async prepare(alert: AlertOperators, jobId: string): Promise<void> {
    if (alert.by !== 'webhook') return;
    this.logger.error({ alert: alert.about }, alert.text);
    const url = this.config.ALERT_WEBHOOK_URL;
    const headers = { 'idempotency-key': jobId };
    if (url) await this.webhookCalls.post({ url, headers, body: alertBody(alert), timeoutMs: TIMEOUT_MS });
  }

  /** Writes one mail for each address in ALERT_EMAIL to the outbox. */
  async work(tx: Transaction, alert: AlertOperators): Promise<void> {
    if (alert.by !== 'mail') return;
    const mails = this.config.ALERT_EMAIL.map((recipient) => this.mail(alert, recipient));
    await this.outbox.append(tx, mails);
  }

  private mail({ about, text, at }: AlertOperators, recipient: string): OutboxMessage {
    const id = this.ids.next();
    const body: EmailJob = {
      job_id: id,
      created_at: this.clock.now().toISOString(),
      attempts: 0,
      max_attempts: 3,
      type: 'email',
      template: 'ops_alert',
      recipient,
      payload: { about, text, at, locale: 'en' },
    };
    return { id, destination: 'email', event: 'ops.alert', body };
  }
}

const alertOperators = z.object({
  class: z.literal('alert_operators'),
  by: z.enum(['webhook', 'mail']),
  about: z.string(),
  text: z.string(),
  count: z.int().positive().optional(),
  at: z.iso.datetime(),
});

/** The kind of job that sends one alert to the operators. */
export function alertJob(handler: TellOperators): JobKind {
  return { schema: alertOperators, handler };
}
