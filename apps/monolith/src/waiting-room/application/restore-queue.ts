import type { QueuedMatch, WaitingRoomApi } from '../waiting-room.api.ts';

/** The matches, which this use case reads from the catalogue. */
export interface Matches {
  match(matchId: string): Promise<(QueuedMatch & { readonly queueRequired: boolean }) | undefined>;
}

/**
 * Sends the waiting room the state of a match's queue if the waiting room does not know it, or reports that the match has no
 * queue.
 */
export class RestoreQueue {
  constructor(
    private readonly matches: Matches,
    private readonly waitingRoom: Pick<WaitingRoomApi, 'restoreIfUnknown' | 'reportNoQueue' | 'withQueueLock'>,
  ) {}

  /** Returns true if it restored the state. If several replicas call it at the same time, only one of them restores. */
  async execute(matchId: string): Promise<boolean> {
    const match = await this.matches.match(matchId);
    if (!match?.queueRequired) {
      await this.waitingRoom.reportNoQueue(matchId);
      return false;
    }
    return this.waitingRoom.withQueueLock(matchId, async () => {
      const now = await this.matches.match(matchId);
      return now ? this.waitingRoom.restoreIfUnknown(now) : false;
    });
  }
}
