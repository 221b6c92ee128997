import { pushTemplates } from '#contracts/queue-jobs';
import type { OldestUnsent } from '#messaging/jobs/oldest-unsent';
import type { QueueSizes } from '#messaging/jobs/queue-sizes';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { oldestUnsentGauge } from '#messaging/jobs/oldest-gauge';

const LABELS = ['template'] as const;

/** The metrics of the push worker with the names that the specification gives, and additional metrics. */
export class PushMetrics {
  private readonly sentTotal: Counter<'template'>;
  private readonly failedTotal: Counter<'template'>;
  private readonly expiredTotal: Counter<'template'>;
  private readonly latency: Histogram;

  constructor(registry: Registry, sizes: QueueSizes, oldest: Pick<OldestUnsent, 'ages'>) {
    oldestUnsentGauge(registry, 'push', pushTemplates, oldest);
    const counter = (name: string, help: string) => new Counter({ name, help, labelNames: LABELS, registers: [registry] });
    this.sentTotal = counter('notification_push_sent_total', 'Devices to which a push was sent.');
    this.failedTotal = counter('notification_push_failed_total', 'Pushes that became dead letters.');
    this.expiredTotal = counter('notification_push_expired_total', 'Pushes dropped because they were no longer useful.');
    this.latency = new Histogram({
      name: 'notification_push_latency_seconds',
      help: 'Seconds from the creation of a push to its delivery to the provider.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600],
      registers: [registry],
    });
    new Gauge({
      name: 'notification_push_queue_size',
      help: 'Pushes of both queues that are not sent yet: waiting, delayed or in progress.',
      registers: [registry],
      async collect() {
        this.set(await sizes.unsent());
      },
    });
    for (const template of pushTemplates)
      for (const total of [this.sentTotal, this.failedTotal, this.expiredTotal]) total.inc({ template }, 0);
  }

  sent(template: string, devices: number, seconds: number): void {
    this.sentTotal.inc({ template }, devices);
    this.latency.observe(Math.max(0, seconds));
  }

  expired(template: string): void {
    this.expiredTotal.inc({ template });
  }

  /** Counts a failed push. An unreadable job may have any value as template, so only known templates become labels. */
  failed(template: unknown): void {
    const label = pushTemplates.find((known) => known === template) ?? 'unknown';
    this.failedTotal.inc({ template: label });
  }
}
