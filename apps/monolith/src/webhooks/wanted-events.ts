import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import type { OnApplicationBootstrap } from '@nestjs/common';
import type { PostgresWebhooks } from './postgres-webhooks.ts';
import type { PartnerEvent, WebhookEvents } from './webhook-events.api.ts';
import { WEBHOOKS_DESTINATION, type WebhookMessage } from './webhooks-destination.ts';

/** Knows which events a webhook wants, so that no other event is written to the outbox. */
export class WantedEvents implements WebhookEvents, OnApplicationBootstrap {
  /** Undefined in a process without periodic tasks, and until they were read first: then each transaction reads them. */
  private wanted: ReadonlySet<string> | undefined;

  constructor(
    private readonly webhooks: PostgresWebhooks,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly tasks: PeriodicTasks,
  ) {
    const does = 'Reads which events the webhooks of partners want. A new webhook gets the events from a second later on.';
    tasks.add({ name: 'events for webhooks', everyMs: 1000, does }, () => this.refresh());
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.refresh().catch(() => undefined);
  }

  async refresh(): Promise<void> {
    if (!this.tasks.isEnabled) return;
    this.wanted = await this.webhooks.wantedEvents();
  }

  async tell(tx: Transaction, events: readonly PartnerEvent[]): Promise<void> {
    const types = this.wanted ?? (await this.webhooks.wantedEvents(tx));
    const wanted = events.filter(({ type }) => types.has(type));
    if (wanted.length === 0) return;
    const messages = wanted.map(({ type, subjectId, data, origin }) => {
      const body: WebhookMessage = { type, subject_id: subjectId, created_at: this.clock.now().toISOString(), data };
      const about = { id: this.ids.next(), destination: WEBHOOKS_DESTINATION, event: type, aggregateId: subjectId };
      return { ...about, body, ...(origin ? { origin } : {}) };
    });
    await this.outbox.append(tx, messages);
  }
}
