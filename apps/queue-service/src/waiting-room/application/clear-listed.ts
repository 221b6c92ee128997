import { StateNeeded, type Blacklist, type ConnectedFans, type LineMovement, type WaitingLines } from './ports.ts';

/** Redis looks so many up in a third of a millisecond. */
const CHUNK = 200;

/**
 * Takes fans who were listed out of every line, and their turns with them: a turn nobody may use would keep others waiting for 20
 * minutes. Each pod does it when it learns of them, after its own joins from before; a fan who is gone already is a look and no
 * more. A pod that starts does it for the whole list.
 */
export class ClearListed {
  private readonly due = new Set<string>();

  constructor(
    private readonly blacklist: Blacklist,
    private readonly lines: WaitingLines,
    private readonly movement: LineMovement,
    private readonly entries: ConnectedFans,
  ) {}

  /** Afterwards nobody new on the list can join here. */
  async learn(): Promise<void> {
    for (const userId of await this.blacklist.look()) this.due.add(userId);
  }

  /** How many places and turns were ended. Whom a round that fails did not come to is due again. */
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
    for (const matchId of listed.length > 0 ? await this.movement.matches() : []) {
      try {
        ended += await this.clearMatch(matchId, listed);
      } catch (error) {
        if (!(error instanceof StateNeeded)) throw error;
        // Its windows may come back with its state; the other matches need not wait for that.
        withoutState = error;
      }
    }
    if (withoutState) throw withoutState;
    return ended;
  }

  private async clearMatch(matchId: string, listed: readonly string[]): Promise<number> {
    let ended = 0;
    for (let from = 0; from < listed.length; from += CHUNK) {
      const asked = listed.slice(from, from + CHUNK);
      const { positions, queue } = await this.entries.readPositions(matchId, asked);
      for (const userId of asked.filter((_, at) => positions[at]! >= 0)) {
        await this.lines.leave(matchId, userId);
        ended += 1;
      }
      // Matches stay listed for ever; nobody is in the line of most of them.
      if (!queue || queue.status === 'closed') break;
    }
    return ended;
  }
}
