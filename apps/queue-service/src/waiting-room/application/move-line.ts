import type { LineMovement } from './ports.ts';

/** A script call of 200 takes Redis one to two milliseconds; others get their turn in between. */
const BATCH = 200;
/** Most rounds grant a few turns. */
const FIRST_GRANTS = 20;

/**
 * One round over one match: the last words of a closed line, windows that are over, places of those long gone, turns that are
 * due. Every pod may run it at any time, also at the same time; how much is due is decided in Redis.
 */
export class MoveLine {
  constructor(private readonly movement: LineMovement) {}

  async runOnce(matchId: string): Promise<{ granted: number; ended: number; quiet: boolean }> {
    const moved = { granted: 0, ended: 0, quiet: false };
    let grants = FIRST_GRANTS;
    for (;;) {
      const [drained, ended, dropped, admitted] = await Promise.all([
        this.movement.drainClosed(matchId, BATCH),
        this.movement.endWindows(matchId, BATCH),
        this.movement.dropAbsent(matchId, BATCH),
        this.movement.admit(matchId, grants),
      ]);
      moved.granted += admitted.granted;
      moved.ended += ended;
      moved.quiet = admitted.quiet;
      if (drained < BATCH && ended < BATCH && dropped < BATCH && !admitted.more) return moved;
      grants = BATCH;
    }
  }
}
