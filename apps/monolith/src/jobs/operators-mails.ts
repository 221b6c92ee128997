import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { EmailJob } from '#contracts/queue-jobs';
import type { AlertOperators } from '#domain/notification/alert-operators';

/** Writes one mail for each address in ALERT_EMAIL to the outbox. The mails are sent only if the transaction commits. */
export class OperatorsMails {
  constructor(
    private readonly addresses: readonly string[],
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  async send(tx: Transaction, alert: AlertOperators): Promise<void> {
    await this.outbox.append(
      tx,
      this.addresses.map((recipient) => this.mail(alert, recipient)),
    );
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
