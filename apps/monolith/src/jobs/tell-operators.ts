import { JobHandler } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AlertOperators } from '#domain/notification/alert-operators';
import type { JobKind } from '#messaging/jobs/job-runner';
import { z } from 'zod';
import type { OperatorsMails } from './operators-mails.ts';
import type { OperatorsWebhook } from './operators-webhook.ts';

/** Sends an alert to the operators. Alerts are jobs, so they survive a crash and are retried if the webhook does not answer. */
export class TellOperators extends JobHandler<AlertOperators, void> {
  readonly class = 'alert_operators';

  constructor(
    private readonly webhook: OperatorsWebhook,
    private readonly mails: OperatorsMails,
  ) {
    super();
  }

  async prepare(alert: AlertOperators, jobId: string): Promise<void> {
    if (alert.by === 'webhook') await this.webhook.send(alert, jobId);
  }

  async work(tx: Transaction, alert: AlertOperators): Promise<void> {
    if (alert.by === 'mail') await this.mails.send(tx, alert);
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
