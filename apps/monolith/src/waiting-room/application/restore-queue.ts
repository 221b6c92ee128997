import type { QueuedMatch, WaitingRoomApi } from '../waiting-room.api.ts';

/** From the catalogue. */
export interface Matches {
  match(matchId: string): Promise<(QueuedMatch & { readonly queueRequired: boolean }) | undefined>;
}

/** Answers a waiting room that does not know a match: with the state of its queue, or that it has none. */
export class RestoreQueue {
  constructor(
    private readonly matches: Matches,
    private readonly waitingRoom: Pick<WaitingRoomApi, 'restore' | 'disown' | 'exclusively'>,
  ) {}

  /** Answers whether a state was restored. Any number of replicas may do this at the same time: one of them restores. */
  async execute(matchId: string): Promise<boolean> {
    const match = await this.matches.match(matchId);
    if (!match?.queueRequired) {
      await this.waitingRoom.disown(matchId);
      return false;
    }
    return this.waitingRoom.exclusively(matchId, async () => {
      const now = await this.matches.match(matchId);
      return now ? this.waitingRoom.restore(now) : false;
    });
  }
}
