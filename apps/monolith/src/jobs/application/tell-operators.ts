import { JobHandler } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AlertOperators } from '#domain/notification/alert-operators';
import type { OperatorsMails, OperatorsWebhook } from './ports.ts';

/** Tells whoever is on duty. As a job: an alert survives the crash it may be about, and is tried again when nobody answers. */
export class TellOperators extends JobHandler<AlertOperators, void> {
  readonly class = 'alert_operators';

  constructor(
    private readonly webhook: OperatorsWebhook,
    private readonly mails: OperatorsMails,
  ) {
    super();
  }

  async prepare(alert: AlertOperators, jobId: string): Promise<void> {
    if (alert.by === 'webhook') await this.webhook.tell(alert, jobId);
  }

  async work(tx: Transaction, alert: AlertOperators): Promise<void> {
    if (alert.by === 'mail') await this.mails.send(tx, alert);
  }
}
