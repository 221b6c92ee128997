import { registerGauges } from '#platform/health/gauges';
import type { UnsentJobs } from '../jobs/unsent-jobs.ts';
import { mailTemplates, pushTemplates } from '#contracts/queue-jobs';
import { Counter, type Registry } from 'prom-client';

const CHANNELS = {
  email: {
    templates: mailTemplates,
    sent: 'Mails that were sent.',
    failed: 'Mails that became dead letters.',
    expired: 'Mails dropped because they were no longer useful.',
    unsent: 'Mails that are not sent yet: waiting, delayed or in progress.',
  },
  push: {
    templates: pushTemplates,
    sent: 'Devices to which a push was sent.',
    failed: 'Pushes that became dead letters.',
    expired: 'Pushes dropped because they were no longer useful.',
    unsent: 'Pushes of both queues that are not sent yet: waiting, delayed or in progress.',
  },
};

/** The metrics of the sending of mails or pushes, with the names that the specification gives. */
export class SendingMetrics {
  private readonly counters: Readonly<Record<'sent' | 'failed' | 'expired', Counter<'template'>>>;
  private readonly templates: readonly string[];

  constructor(
    readonly registry: Registry,
    channel: keyof typeof CHANNELS,
    unsent: UnsentJobs,
  ) {
    const { templates, ...help } = CHANNELS[channel];
    this.templates = templates;
    const counter = (outcome: 'sent' | 'failed' | 'expired'): Counter<'template'> => {
      const name = `notification_${channel}_${outcome}_total`;
      const created = new Counter({ name, help: help[outcome], labelNames: ['template'], registers: [registry] });
      for (const template of templates) created.inc({ template }, 0);
      return created;
    };
    this.counters = { sent: counter('sent'), failed: counter('failed'), expired: counter('expired') };
    registerGauges(registry, () => unsent.count(), [
      { name: `notification_${channel}_queue_size`, help: help.unsent, values: (count) => [[count]] },
    ]);
    registerGauges(registry, () => unsent.ages(Date.now()), [
      {
        name: `notification_${channel}_oldest_unsent_seconds`,
        help: 'Age of the oldest message that is not sent yet, by template.',
        labels: ['template'],
        values: (ages) => templates.map((template) => [ages.get(template) ?? 0, { template }]),
      },
    ]);
  }

  /** Counts a message of a template. An unreadable job may have any value as template, so only known templates become labels. */
  count(outcome: 'sent' | 'failed' | 'expired', template: unknown, messages = 1): void {
    const label = this.templates.find((known) => known === template) ?? 'unknown';
    this.counters[outcome].inc({ template: label }, messages);
  }
}
