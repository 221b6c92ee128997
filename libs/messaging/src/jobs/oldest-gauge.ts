import type { OldestUnsent } from './oldest-unsent.ts';
import { Gauge, type Registry } from 'prom-client';

/**
 * Registers the gauge `…_oldest_unsent_seconds{template}`: the age of the oldest unsent mail or push. It is 0 when no message of
 * the template waits. While Redis is unavailable the gauge keeps its last value.
 */
export function oldestUnsentGauge(
  registry: Registry,
  channel: 'email' | 'push',
  templates: readonly string[],
  oldest: Pick<OldestUnsent, 'ages'>,
): void {
  new Gauge({
    name: `notification_${channel}_oldest_unsent_seconds`,
    help: 'Age of the oldest message that is not sent yet, by template.',
    labelNames: ['template'],
    registers: [registry],
    async collect() {
      const ages = await oldest.ages(Date.now());
      if (ages) for (const template of templates) this.set({ template }, ages.get(template) ?? 0);
    },
  });
}
