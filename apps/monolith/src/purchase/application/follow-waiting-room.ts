import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { QueueEvent } from '#contracts/integration-events';

/** The waiting room's event streams, one a match: nothing is lost there, whatever happens to the messages. */
export abstract class QueueEvents {
  abstract matches(): Promise<readonly string[]>;
  /** Events after this one, oldest first; what cannot be read is skipped, but its place is told by `lastId`. */
  abstract readAfter(matchId: string, streamId: string, limit: number): Promise<{ events: readonly QueueEvent[]; lastId: string }>;
}

/** How far each stream has been read; taking it locks it, so that of N replicas one applies an event. */
export abstract class QueueCursors {
  abstract position(matchId: string): Promise<string>;
  /** False when somebody else moved it in the meantime: then they applied these events. */
  abstract advance(tx: Transaction, matchId: string, from: string, to: string): Promise<boolean>;
}

/** What an event of the waiting room means for us: windows, and pushes to those who are not looking. */
export abstract class QueueEventConsequences {
  abstract apply(tx: Transaction, events: readonly QueueEvent[]): Promise<void>;
}

const BATCH = 500;

/**
 * Reads what the waiting room did and applies it once, whatever the number of replicas: effects and the new position of the
 * reader commit together. A message on `queue_events` only says "look now"; losing it costs a moment, not a turn (W11).
 */
export class FollowWaitingRoom {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly events: QueueEvents,
    private readonly cursors: QueueCursors,
    private readonly consequences: QueueEventConsequences,
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
