import type { Delivery, Destination, RelayedMessage } from '#platform/outbox/destination';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { PurchaseApi } from '../../purchase/purchase.api.ts';
import { WAITING_ROOM_DESTINATION, type WaitingRoomApi, type WaitingRoomMessage } from '../waiting-room.api.ts';

/** A waiting room that answers nothing costs 3 s a call; the rest of the round is left for the next. */
const SYNCS_MS = 5000;

/** With so many free seats it does no harm if as many windows are opened as were open a second ago. */
const PLENTY = 1000;

type Completion = Extract<WaitingRoomMessage, { kind: 'complete' }>;

/** Delivers to the queue service. Nothing here is ever given up: it is tried until it is answered 2xx. */
export class WaitingRoomDestination implements Destination {
  readonly name = WAITING_ROOM_DESTINATION;
  /** Each is a call of a few milliseconds. */
  readonly batchSize = 50;

  constructor(
    private readonly waitingRoom: WaitingRoomApi,
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
  ) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const completions = messages.filter(({ body }) => kindOf(body) === 'complete');
    const bounds = new Map<string, Promise<void>>();
    for (const { body } of completions) {
      const { match_id: matchId } = body as Completion;
      if (!bounds.has(matchId)) bounds.set(matchId, this.boundWindows(matchId));
    }
    const completed = await Promise.all(
      completions.map((message) => this.one(message, bounds.get((message.body as Completion).match_id))),
    );
    return [...completed, ...(await this.syncs(messages.filter((message) => !completions.includes(message))))];
  }

  /** One after the other, because each is a turn at the lock that operators wait for, too; and not for ever. */
  private async syncs(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const deliveries: Delivery[] = [];
    const giveUpAt = Date.now() + SYNCS_MS;
    for (const message of messages) {
      const late: Delivery = { id: message.id, outcome: 'later', error: 'the waiting room is too slow' };
      deliveries.push(Date.now() < giveUpAt ? await this.one(message) : late);
    }
    return deliveries;
  }

  /**
   * The turn of who bought the last seat must not become the turn of somebody who will find nothing: a window that ends lets
   * the next fan in at once, so the waiting room first hears how many windows are still of use.
   */
  private async boundWindows(matchId: string): Promise<void> {
    if ((await this.purchase.left(matchId)).free >= PLENTY) return;
    await this.waitingRoom.exclusively(matchId, async () => {
      const match = await this.catalog.match(matchId);
      const isOn = match?.saleStatus === 'open' || match?.saleStatus === 'paused';
      // Counted in here: another one's older count cannot follow it.
      if (match?.queueRequired && isOn) await this.waitingRoom.tell(match);
    });
  }

  private async one({ id, body }: RelayedMessage, before?: Promise<void>): Promise<Delivery> {
    try {
      await before;
      await this.tell(body as WaitingRoomMessage);
      return { id, outcome: 'delivered' };
    } catch (error) {
      return { id, outcome: 'later', error: String(error) };
    }
  }

  private async tell(message: WaitingRoomMessage): Promise<void> {
    if (message.kind === 'complete') return this.waitingRoom.complete(message.match_id, message.user_id, message.session_token);
    return this.waitingRoom.exclusively(message.match_id, async () => {
      const match = await this.catalog.match(message.match_id);
      if (match?.queueRequired) await this.waitingRoom.tell(match);
    });
  }
}

function kindOf(body: unknown): WaitingRoomMessage['kind'] {
  return (body as WaitingRoomMessage).kind;
}
