import type { SaleStatus } from '#domain/catalog/sale';
import { deliverFromOrigin, type Delivery, type Destination, type RelayedMessage } from '#messaging/outbox/destination';
import type { CatalogApi } from '../catalog/catalog.api.ts';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import { WAITING_ROOM_DESTINATION, type WaitingRoomApi, type WaitingRoomMessage } from './waiting-room.api.ts';

/**
 * How long one run of the relay delivers messages of the kind `sync`. The remaining ones wait for the next run, because a call to
 * a waiting room that does not answer takes 3 s.
 */
const MAX_SYNC_TIME_MS = 5000;

/** With this many free seats, every new window finds a seat, so we need not update the useful windows before a turn ends. */
const MANY_FREE_SEATS = 1000;

type Completion = Extract<WaitingRoomMessage, { kind: 'complete' }>;

/**
 * Delivers messages to the queue service. No message is ever parked: each message is retried until the queue service answers 2xx.
 */
export class WaitingRoomDestination implements Destination {
  readonly name = WAITING_ROOM_DESTINATION;
  /** Each message is a call of a few milliseconds. */
  readonly batchSize = 50;

  constructor(
    private readonly waitingRoom: WaitingRoomApi,
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
  ) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const completions = messages.filter(({ body }) => kindOf(body) === 'complete');
    const updates = new Map<string, Promise<void>>();
    for (const { body } of completions) {
      const { match_id: matchId } = body as Completion;
      if (!updates.has(matchId)) updates.set(matchId, this.updateUsefulWindows(matchId));
    }
    const completed = await Promise.all(
      completions.map((message) =>
        deliverFromOrigin(message, () => this.deliverOne(message, updates.get((message.body as Completion).match_id))),
      ),
    );
    return [...completed, ...(await this.deliverSyncs(messages.filter((message) => !completions.includes(message))))];
  }

  /**
   * Delivers messages of the kind `sync` one after another, because each takes a queue lock that operators' calls need too. Stops
   * after MAX_SYNC_TIME_MS.
   */
  private async deliverSyncs(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const deliveries: Delivery[] = [];
    const giveUpAt = Date.now() + MAX_SYNC_TIME_MS;
    for (const message of messages) {
      const late: Delivery = { id: message.id, outcome: 'later', error: 'the waiting room is too slow' };
      const isInTime = Date.now() < giveUpAt;
      deliveries.push(isInTime ? await deliverFromOrigin(message, () => this.deliverOne(message)) : late);
    }
    return deliveries;
  }

  /**
   * Sends the current number of useful windows before a turn ends. When a turn ends, the next fan gets a turn at once; after the
   * last seat was sold, the next fan would find no seat. For a sale that is already sold out only the number is sent: the message
   * that ends the line once is perhaps still in the outbox.
   */
  private async updateUsefulWindows(matchId: string): Promise<void> {
    if ((await this.purchase.seatsLeft(matchId)).free < MANY_FREE_SEATS)
      await this.syncMatch(matchId, (saleStatus) => (saleStatus === 'sold_out' ? 0 : undefined));
  }

  /** Sends the state of a match. Its seats are counted under the queue lock, so an older count cannot replace this one. */
  private syncMatch(matchId: string, usefulWindows?: (saleStatus: SaleStatus) => number | undefined): Promise<void> {
    return this.waitingRoom.withQueueLock(matchId, async () => {
      const match = await this.catalog.match(matchId);
      if (match?.queueRequired) await this.waitingRoom.sync(match, usefulWindows?.(match.saleStatus));
    });
  }

  private async deliverOne({ id, body }: RelayedMessage, before?: Promise<void>): Promise<Delivery> {
    try {
      await before;
      await this.send(body as WaitingRoomMessage);
      return { id, outcome: 'delivered' };
    } catch (error) {
      return { id, outcome: 'later', error: String(error) };
    }
  }

  private async send(message: WaitingRoomMessage): Promise<void> {
    if (message.kind === 'complete') return this.waitingRoom.complete(message.match_id, message.user_id, message.session_token);
    if (message.kind === 'forget') return this.waitingRoom.forget(message.user_id);
    return this.syncMatch(message.match_id);
  }
}

function kindOf(body: unknown): WaitingRoomMessage['kind'] {
  return (body as WaitingRoomMessage).kind;
}
