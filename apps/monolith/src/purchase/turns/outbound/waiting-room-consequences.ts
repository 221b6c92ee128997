import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { FansApi } from '../../../fans/fans.api.ts';
import type { WaitingRoomConsequences, WaitingRoomEvent } from '../application/waiting-room-ports.ts';
import type { JoinAlerts } from './join-alerts.ts';
import type { PostgresPurchaseWindows } from './postgres-purchase-windows.ts';
import { fansToNotify, queuePush } from './queue-pushes.ts';

/** Stores turns and writes pushes in the transaction that advances the stream cursor, so each event has its effect once. */
export class PostgresWaitingRoomConsequences implements WaitingRoomConsequences {
  constructor(
    private readonly windows: PostgresPurchaseWindows,
    private readonly fans: FansApi,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly alerts: JoinAlerts,
  ) {}

  async apply(tx: Transaction, allEvents: readonly WaitingRoomEvent[]): Promise<void> {
    const events = await this.withoutVoidTurns(tx, allEvents);
    for (const event of events) {
      if (event.kind === 'turn granted') await this.windows.granted(tx, event);
      if (event.kind === 'turn ended') await this.windows.expired(tx, event);
      if (event.kind === 'joins from one address') await this.alerts.note(event);
    }
    const contacts = await this.fans.contacts(tx, [...new Set(events.flatMap(fansToNotify))]);
    const at = this.clock.now();
    const pushes = events.flatMap((event) =>
      fansToNotify(event).flatMap((userId) => {
        const contact = contacts.get(userId);
        return (contact && queuePush(event, contact, { id: this.ids.next(), at })) ?? [];
      }),
    );
    await this.outbox.append(tx, pushes);
  }

  /**
   * Leaves out turns of an older generation (an earlier state of the match in Redis). Redis lost them before they were stored.
   * Their fans are at the front of the line again and get new turns.
   */
  private async withoutVoidTurns(tx: Transaction, events: readonly WaitingRoomEvent[]): Promise<readonly WaitingRoomEvent[]> {
    const matches = new Set(events.flatMap((event) => (event.kind === 'turn granted' ? [event.matchId] : [])));
    const current = new Map<string, number>();
    for (const matchId of matches) current.set(matchId, await this.windows.currentGeneration(tx, matchId));
    const isVoid = (event: WaitingRoomEvent): boolean =>
      event.kind === 'turn granted' && event.generation !== undefined && event.generation < (current.get(event.matchId) ?? 0);
    return events.filter((event) => !isVoid(event));
  }
}
