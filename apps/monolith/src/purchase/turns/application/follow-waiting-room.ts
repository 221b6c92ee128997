import type { TransactionManager } from '#application/transaction-manager';
import type { StreamCursors, WaitingRoomConsequences, WaitingRoomEvents } from './waiting-room-ports.ts';

const BATCH = 500;

/**
 * Reads what the waiting room did and applies it once, whatever the number of replicas: effects and the new position of the
 * reader commit together. A message on `queue_events` only says "look now"; losing it costs a moment, not a turn (W11).
 */
export class FollowWaitingRoom {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly events: WaitingRoomEvents,
    private readonly cursors: StreamCursors,
    private readonly consequences: WaitingRoomConsequences,
  ) {}

  async execute(matchId: string): Promise<number> {
    let total = 0;
    for (;;) {
      const from = await this.cursors.position(matchId);
      const { events, lastId } = await this.events.readAfter(matchId, from, BATCH);
      if (lastId === from) return total;
      const applied = await this.transactions.run(async (tx) => {
        if (!(await this.cursors.advance(tx, matchId, from, lastId))) return false;
        await this.consequences.apply(tx, events);
        return true;
      });
      if (!applied) return total;
      total += events.length;
    }
  }

  matches(): Promise<readonly string[]> {
    return this.events.matches();
  }
}
