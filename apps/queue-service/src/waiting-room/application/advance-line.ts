import type { LineMovement } from './ports.ts';

/** A script call for 200 fans takes Redis one to two milliseconds. Redis runs other commands between two calls. */
const BATCH = 200;
/** Most runs grant only a few turns, so the first call sends fewer session tokens. */
const FIRST_GRANTS = 20;

/**
 * One run for one match: writes the final states of a closed line, ends expired windows, drops fans without a sign of life, and
 * grants the turns that are due. Every pod may run it at any time, also in parallel: the scripts in Redis decide what is due.
 */
export class AdvanceLine {
  constructor(private readonly movement: LineMovement) {}

  async runOnce(matchId: string): Promise<{ granted: number; ended: number; isIdle: boolean }> {
    const result = { granted: 0, ended: 0, isIdle: false };
    let grants = FIRST_GRANTS;
    for (;;) {
      const [drained, ended, dropped, admitted] = await Promise.all([
        this.movement.drainClosed(matchId, BATCH),
        this.movement.endWindows(matchId, BATCH),
        this.movement.dropAbsent(matchId, BATCH),
        this.movement.admit(matchId, grants),
      ]);
      result.granted += admitted.granted;
      result.ended += ended;
      result.isIdle = admitted.isIdle;
      if (drained < BATCH && ended < BATCH && dropped < BATCH && !admitted.hasMore) return result;
      grants = BATCH;
    }
  }
}
