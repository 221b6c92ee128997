import type { TransactionManager } from '#application/transaction-manager';
import type { StreamCursors, WaitingRoomConsequences, WaitingRoomEvents } from './waiting-room-ports.ts';

const MAX_EVENTS_IN_A_BATCH = 500;
/** A stream id before the first event of any stream. */
const STREAM_START = '0-0';

/**
 * Reads the waiting room's event streams and applies each event once, with any number of replicas: the effects and the new stream
 * position commit in one transaction. A message on the channel `queue_events` only triggers a read. If the message is lost, the
 * event is applied a moment later.
 */
export class FollowWaitingRoom {
  /** For each match: the stream id up to which some replica has applied the events, as far as this process knows. */
  private readonly appliedUpTo = new Map<string, string>();

  constructor(
    private readonly transactions: TransactionManager,
    private readonly events: WaitingRoomEvents,
    private readonly cursors: StreamCursors,
    private readonly consequences: WaitingRoomConsequences,
  ) {}

  /** Applies all new events of a match. Returns how many this process has applied. */
  async execute(matchId: string): Promise<number> {
    let total = 0;
    for (;;) {
      const from = await this.cursors.position(matchId);
      const { events, lastId } = await this.events.readAfter(matchId, from, MAX_EVENTS_IN_A_BATCH);
      if (lastId === from) {
        // Set `appliedUpTo` only here, when all events are applied: to apply events that were read may still fail.
        this.appliedUpTo.set(matchId, from);
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
   * The matches whose stream has events that are not applied, as far as this process knows. A match never leaves the list in
   * Redis, and most matches have no new events. This check in Redis saves a database query for each match without new events.
   */
  async matchesWithNewEvents(): Promise<readonly string[]> {
    const matches = await this.events.matches();
    const isUnread = await Promise.all(matches.map((matchId) => this.hasUnread(matchId)));
    return matches.filter((_, index) => isUnread[index]);
  }

  /** A stream that cannot be read counts as unread, so that `execute` reads it and reports the error. */
  private hasUnread(matchId: string): Promise<boolean> {
    return this.events.hasAfter(matchId, this.appliedUpTo.get(matchId) ?? STREAM_START).catch(() => true);
  }
}
