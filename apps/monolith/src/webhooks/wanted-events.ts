import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { OutboxMessage } from '#application/outbox';
import type { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import type { OnApplicationBootstrap } from '@nestjs/common';
import type { PostgresWebhooks } from './postgres-webhooks.ts';
import type { PartnerEvent, WebhookEvents } from './webhook-events.api.ts';
import { WEBHOOKS_DESTINATION, type WebhookMessage } from './webhooks-destination.ts';

/** Knows which events a webhook wants, so that no other event is written to the outbox. */
export class WantedEvents implements WebhookEvents, OnApplicationBootstrap {
  /** Undefined until they were read: then every event is written, and the relay drops those that nobody wants. */
  private wanted: ReadonlySet<string> | undefined;

  constructor(
    private readonly webhooks: PostgresWebhooks,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly tasks: PeriodicTasks,
  ) {
    const does = 'Reads which events the webhooks of partners want. A new webhook gets the events from a second later on.';
    tasks.add({ name: 'events for webhooks', everyMs: 1000, does }, () => this.refresh());
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.tasks.isEnabled) await this.refresh().catch(() => undefined);
  }

  async refresh(): Promise<void> {
    this.wanted = await this.webhooks.wantedEvents();
  }

  about(events: readonly PartnerEvent[]): readonly OutboxMessage[] {
    return events
      .filter(({ type }) => this.wanted?.has(type) ?? true)
      .map(({ type, subjectId, data, origin }) => {
        const body: WebhookMessage = { type, subject_id: subjectId, created_at: this.clock.now().toISOString(), data };
        return {
          id: this.ids.next(),
          destination: WEBHOOKS_DESTINATION,
          event: type,
          aggregateId: subjectId,
          body,
          ...(origin ? { origin } : {}),
        };
      });
  }
}
