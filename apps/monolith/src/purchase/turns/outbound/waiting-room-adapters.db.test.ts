import { PostgresPurchase } from '../../testing/postgres-purchase.ts';
import { streamCursorsContract } from '../../testing/stream-cursors.contract.ts';
import { waitingRoomConsequencesContract } from '../../testing/waiting-room-consequences.contract.ts';
import { waitingRoomEventsContract } from '../../testing/waiting-room-events.contract.ts';

let purchase: PostgresPurchase;

beforeAll(async () => {
  purchase = await PostgresPurchase.open();
});
afterAll(() => purchase.close());

streamCursorsContract(() => purchase);
waitingRoomConsequencesContract(() => purchase);
waitingRoomEventsContract(() => purchase);
