import type { WaitingLines } from './ports.ts';

/** How many fans one script call processes at most. 200 fans take Redis one to two milliseconds; then it can run other commands. */
const BATCH = 200;
/** How many turns the first call of a run may grant. A call sends a session token for each, and most runs grant only a few turns. */
const FIRST_GRANTS = 20;

/**
 * Moves the line of a match forward: writes the final states of a closed line, ends expired windows, drops fans who were absent for
 * too long, and grants the turns that rate and free windows allow. Every pod may run it at any time, even in parallel with other
 * pods: the scripts in Redis decide what must be done.
 */
export class AdvanceLine {
  constructor(private readonly lines: WaitingLines) {}

  async runOnce(matchId: string): Promise<{ granted: number; ended: number; isIdle: boolean }> {
    const result = { granted: 0, ended: 0, isIdle: false };
    let grants = FIRST_GRANTS;
    for (;;) {
      const [drained, ended, dropped, admitted] = await Promise.all([
        this.lines.drainClosed(matchId, BATCH),
        this.lines.endWindows(matchId, BATCH),
        this.lines.dropAbsent(matchId, BATCH),
        this.lines.admit(matchId, grants),
      ]);
      result.granted += admitted.granted;
      result.ended += ended;
      result.isIdle = admitted.isIdle;
      if (drained < BATCH && ended < BATCH && dropped < BATCH && !admitted.hasMore) return result;
      grants = BATCH;
    }
  }
}
