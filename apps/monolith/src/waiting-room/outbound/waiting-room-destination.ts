import type { Delivery, Destination, RelayedMessage } from '#platform/outbox/destination';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import { controlOf, WAITING_ROOM_DESTINATION, type WaitingRoomApi, type WaitingRoomMessage } from '../waiting-room.api.ts';

/** Delivers to the queue service. Nothing here is ever given up: it is tried until it is answered 2xx. */
export class WaitingRoomDestination implements Destination {
  readonly name = WAITING_ROOM_DESTINATION;
  /** Each is a call of a few milliseconds, all of a round at once. */
  readonly batchSize = 50;

  constructor(
    private readonly waitingRoom: WaitingRoomApi,
    private readonly catalog: CatalogApi,
  ) {}

  deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    return Promise.all(
      messages.map(({ id, body }) =>
        this.one(body as WaitingRoomMessage).then(
          (): Delivery => ({ id, outcome: 'delivered' }),
          (error: unknown): Delivery => ({ id, outcome: 'later', error: String(error) }),
        ),
      ),
    );
  }

  private async one(message: WaitingRoomMessage): Promise<void> {
    if (message.kind === 'complete') return this.waitingRoom.complete(message.match_id, message.user_id, message.session_token);
    return this.waitingRoom.exclusively(message.match_id, async () => {
      const match = await this.catalog.match(message.match_id);
      if (match?.queueRequired) await this.waitingRoom.control(match.id, controlOf(match));
    });
  }
}
