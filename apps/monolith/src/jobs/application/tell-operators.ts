import { JobHandler } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AlertOperators } from '#domain/notification/alert-operators';
import type { OperatorsMails, OperatorsWebhook } from './ports.ts';

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
