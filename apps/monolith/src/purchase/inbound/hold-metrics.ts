import { DomainError } from '#domain/shared/domain-error';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';

/** How holds end for those who ask for them: held, or the code they were refused with. */
export class HoldMetrics {
  private readonly holds: Counter<'outcome'>;

  constructor(registry: Registry) {
    this.holds = new Counter({
      name: 'reservations_total',
      help: 'Wishes for seats, by what became of them.',
      labelNames: ['outcome'],
      registers: [registry],
    });
  }

  async count<T>(hold: Promise<T>): Promise<T> {
    try {
      const held = await hold;
      this.holds.inc({ outcome: 'held' });
      return held;
    } catch (error) {
      this.holds.inc({ outcome: error instanceof DomainError ? error.code.toLowerCase() : 'failed' });
      throw error;
    }
  }
}
