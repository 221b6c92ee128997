import { SimulatedPurchase } from './simulated-purchase.ts';
import { streamCursorsContract } from './stream-cursors.contract.ts';
import { waitingRoomConsequencesContract } from './waiting-room-consequences.contract.ts';
import { waitingRoomEventsContract } from './waiting-room-events.contract.ts';

waitingRoomEventsContract(() => new SimulatedPurchase());
streamCursorsContract(() => new SimulatedPurchase());
waitingRoomConsequencesContract(() => new SimulatedPurchase());
