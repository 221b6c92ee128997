import { StateNeeded, type Blacklist, type ConnectedFans, type WaitingLines } from './ports.ts';

/** How many positions one call reads. Redis reads 200 in about a third of a millisecond. */
const CHUNK = 200;

/**
 * Removes fans on the blacklist from every line and ends their turns: a turn that cannot be used would block a window for 20 minutes.
 * Each pod removes a fan when it learns that the fan is new on the blacklist. So the removal reaches Redis after all joins of
 * this fan that the same pod has sent before. A pod that starts removes all fans on the blacklist. Removing a fan twice costs
 * only a read.
 */
export class RemoveBlacklistedFans {
  /** Fans on the blacklist who may still be in a line. */
  private readonly due = new Set<string>();

  constructor(
    private readonly blacklist: Blacklist,
    private readonly lines: WaitingLines,
    private readonly connectedFans: ConnectedFans,
  ) {}

  /** Reads the blacklist. Afterwards fans on it cannot join through this pod. */
  async learn(): Promise<void> {
    for (const userId of await this.blacklist.refresh()) this.due.add(userId);
  }

  /**
   * Reads the blacklist and removes its new fans. Returns how many queue entries and turns were ended. After a failure the next
   * run tries all these fans again.
   */
  async runOnce(): Promise<number> {
    await this.learn();
    const due = [...this.due];
    const ended = await this.clear(due.filter((userId) => this.blacklist.has(userId)));
    for (const userId of due) this.due.delete(userId);
    return ended;
  }

  private async clear(listed: readonly string[]): Promise<number> {
    let ended = 0;
    let withoutState: StateNeeded | undefined;
    for (const matchId of listed.length > 0 ? await this.lines.matches() : []) {
      try {
        ended += await this.clearMatch(matchId, listed);
      } catch (error) {
        if (!(error instanceof StateNeeded)) throw error;
        // The missing state of this match may contain windows of these fans, so they stay in `due`. Go on with the other matches.
        withoutState = error;
      }
    }
    if (withoutState) throw withoutState;
    return ended;
  }

  private async clearMatch(matchId: string, listed: readonly string[]): Promise<number> {
    let ended = 0;
    for (let from = 0; from < listed.length; from += CHUNK) {
      const chunk = listed.slice(from, from + CHUNK);
      const { positions, queue } = await this.connectedFans.readPositions(matchId, chunk);
      for (const userId of chunk.filter((_, index) => positions[index]! >= 0)) {
        await this.lines.leave(matchId, userId);
        ended += 1;
      }
      // Past matches stay in the list of matches for ever. For a closed match, or one without a queue, the further fans are skipped.
      if (!queue || queue.status === 'closed') break;
    }
    return ended;
  }
}
