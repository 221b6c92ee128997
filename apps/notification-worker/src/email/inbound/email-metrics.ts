import { emailJob } from '#contracts/queue-jobs';
import type { QueueSizes } from '#platform/jobs/queue-sizes';
import { Counter, Gauge, type Registry } from 'prom-client';

const mailTemplates = emailJob.options.map((option) => option.shape.template.value);

/** The seed's metrics of the email worker, by its names. */
export class EmailMetrics {
  private readonly sentTotal: Counter<'template'>;
  private readonly failedTotal: Counter<'template'>;

  constructor(registry: Registry, sizes: QueueSizes) {
    const registers = [registry];
    const labelNames = ['template'] as const;
    this.sentTotal = new Counter({
      name: 'notification_email_sent_total',
      help: 'Mails handed to the provider.',
      labelNames,
      registers,
    });
    this.failedTotal = new Counter({
      name: 'notification_email_failed_total',
      help: 'Mails in the dead letter.',
      labelNames,
      registers,
    });
    new Gauge({
      name: 'notification_email_queue_size',
      help: 'Mails that have not left yet: waiting, delayed or in hand.',
      registers,
      async collect() {
        this.set(await sizes.unsent());
      },
    });
    for (const template of mailTemplates) {
      this.sentTotal.inc({ template }, 0);
      this.failedTotal.inc({ template }, 0);
    }
  }

  sent(template: string): void {
    this.sentTotal.inc({ template });
  }

  /** The template is what an unreadable job claims it to be: only known ones become labels. */
  failed(template: unknown): void {
    this.failedTotal.inc({ template: mailTemplates.find((known) => known === template) ?? 'unknown' });
  }
}
