import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { QueueEvent } from '#contracts/integration-events';
import type { FansApi } from '../../fans/fans.api.ts';
import { QueueEventConsequences } from '../application/follow-waiting-room.ts';
import type { PostgresPurchaseWindows } from './postgres-purchase-windows.ts';
import { fansOf, queuePush } from './queue-pushes.ts';

/** Windows and pushes, in the transaction that moves the reader on: each event has its effect once. */
export class RecordedQueueConsequences extends QueueEventConsequences {
  constructor(
    private readonly windows: PostgresPurchaseWindows,
    private readonly fans: FansApi,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {
    super();
  }

  async apply(tx: Transaction, events: readonly QueueEvent[]): Promise<void> {
    for (const event of events) {
      if (event.event === 'queue.turn_granted') await this.windows.granted(tx, event);
      if (event.event === 'queue.expired') await this.windows.expired(tx, event);
    }
    const contacts = await this.fans.contacts(tx, [...new Set(events.flatMap(fansOf))]);
    const at = this.clock.now();
    const pushes = events.flatMap((event) =>
      fansOf(event).flatMap((userId) => {
        const contact = contacts.get(userId);
        return (contact && queuePush(event, contact, { id: this.ids.next(), at })) ?? [];
      }),
    );
    await this.outbox.append(tx, pushes);
  }
}
