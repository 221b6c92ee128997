import { webhookEvents, type WebhookEventType } from '#contracts/webhook-events';
import type { Delivery, Destination, RelayedMessage } from '#messaging/outbox/destination';
import { z } from 'zod';
import type { PostgresWebhooks } from './postgres-webhooks.ts';

/** Outbox destination for events that partners want to know of. */
export const WEBHOOKS_DESTINATION = 'webhooks';

const webhookMessage = z.object({
  type: z.enum(webhookEvents),
  subject_id: z.guid(),
  created_at: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});
/** The body of an outbox message about an event. */
export type WebhookMessage = z.infer<typeof webhookMessage> & { readonly type: WebhookEventType };

/** Plans the delivery of an event to each webhook that wants it. A repeated message plans nothing twice. */
export class WebhooksDestination implements Destination {
  readonly name = WEBHOOKS_DESTINATION;
  readonly batchSize = 200;

  constructor(
    private readonly webhooks: PostgresWebhooks,
    private readonly whenPlanned: () => void,
  ) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const read = messages.map(({ id, body }) => ({ id, message: webhookMessage.safeParse(body).data }));
    const events = read.flatMap(({ id, message }) => (message ? [{ id, ...message }] : []));
    if ((await this.webhooks.plan(events)) > 0) this.whenPlanned();
    return read.map(({ id, message }) =>
      message ? { id, outcome: 'delivered' } : { id, outcome: 'poison', error: 'not an event for webhooks' },
    );
  }
}
