import type { OldestUnsent } from './oldest-unsent.ts';
import { Gauge, type Registry } from 'prom-client';

/** `…_oldest_unsent_seconds{template}`: 0 when nothing of the template is waiting; the last known without Redis. */
export function oldestUnsentGauge(
  registry: Registry,
  channel: 'email' | 'push',
  templates: readonly string[],
  oldest: Pick<OldestUnsent, 'ages'>,
): void {
  new Gauge({
    name: `notification_${channel}_oldest_unsent_seconds`,
    help: 'Age of the oldest message that has not left yet, by template.',
    labelNames: ['template'],
    registers: [registry],
    async collect() {
      const ages = await oldest.ages(Date.now());
      if (ages) for (const template of templates) this.set({ template }, ages.get(template) ?? 0);
    },
  });
}
