import { mailTemplates } from '#contracts/queue-jobs';
import type { OldestUnsent } from '#messaging/jobs/oldest-unsent';
import type { QueueSizes } from '#messaging/jobs/queue-sizes';
import { Counter, Gauge, type Registry } from 'prom-client';
import { oldestUnsentGauge } from '#messaging/jobs/oldest-gauge';

/** The metrics of the email worker, with the names that the specification gives. */
export class EmailMetrics {
  private readonly sentTotal: Counter<'template'>;
  private readonly failedTotal: Counter<'template'>;
  private readonly expiredTotal: Counter<'template'>;

  constructor(registry: Registry, sizes: QueueSizes, oldest: Pick<OldestUnsent, 'ages'>) {
    const registers = [registry];
    const labelNames = ['template'] as const;
    this.sentTotal = new Counter({
      name: 'notification_email_sent_total',
      help: 'Mails that were sent.',
      labelNames,
      registers,
    });
    this.failedTotal = new Counter({
      name: 'notification_email_failed_total',
      help: 'Mails that became dead letters.',
      labelNames,
      registers,
    });
    this.expiredTotal = new Counter({
      name: 'notification_email_expired_total',
      help: 'Mails dropped because they were no longer useful.',
      labelNames,
      registers,
    });
    oldestUnsentGauge(registry, 'email', mailTemplates, oldest);
    new Gauge({
      name: 'notification_email_queue_size',
      help: 'Mails that are not sent yet: waiting, delayed or in progress.',
      registers,
      async collect() {
        this.set(await sizes.unsent());
      },
    });
    for (const template of mailTemplates) {
      this.sentTotal.inc({ template }, 0);
      this.failedTotal.inc({ template }, 0);
      this.expiredTotal.inc({ template }, 0);
    }
  }

  sent(template: string): void {
    this.sentTotal.inc({ template });
  }

  expired(template: string): void {
    this.expiredTotal.inc({ template });
  }

  /** Counts a failed mail. An unreadable job may have any value as template, so only known templates become labels. */
  failed(template: unknown): void {
    const label = mailTemplates.find((known) => known === template) ?? 'unknown';
    this.failedTotal.inc({ template: label });
  }
}
