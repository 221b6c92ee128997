import type { TransactionManager } from '#application/transaction-manager';
import type { StreamCursors, WaitingRoomConsequences, WaitingRoomEvents } from './waiting-room-ports.ts';

const BATCH = 500;
/** Before the first event of any stream. */
const BEGINNING = '0-0';

/**
 * Reads what the waiting room did and applies it once, whatever the number of replicas: effects and the new position of the
 * reader commit together. A message on `queue_events` only says "look now"; losing it costs a moment, not a turn (W11).
 */
export class FollowWaitingRoom {
  /** Up to where this process knows each stream to be read, by whatever replica. */
  private readonly readTo = new Map<string, string>();

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
      if (lastId === from) {
        // Not before: what is read may still fail to be applied.
        this.readTo.set(matchId, from);
        return total;
      }
      const applied = await this.transactions.run(async (tx) => {
        if (!(await this.cursors.advance(tx, matchId, from, lastId))) return false;
        await this.consequences.apply(tx, events);
        return true;
      });
      if (!applied) return total;
      total += events.length;
    }
  }

  /**
   * Matches whose stream has events this process has not read. Matches are listed for ever, so all but a few are read to their end;
   * asking Redis only spares each of them a query.
   */
  async unread(): Promise<readonly string[]> {
    const matches = await this.events.matches();
    const has = await Promise.all(matches.map((matchId) => this.hasUnread(matchId)));
    return matches.filter((_, at) => has[at]);
  }

  /** A stream that cannot be read counts as unread: reading it tells why. */
  private hasUnread(matchId: string): Promise<boolean> {
    return this.events.hasAfter(matchId, this.readTo.get(matchId) ?? BEGINNING).catch(() => true);
  }
}
