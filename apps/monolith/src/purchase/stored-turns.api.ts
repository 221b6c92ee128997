/** An open turn as stored in PostgreSQL. */
export interface StoredTurn {
  readonly userId: string;
  readonly sessionToken: string;
  readonly expiresAt: Date;
  /**
   * Join time (µs) of the queue entry that got this turn. If the turn was stored without it: the time at which the turn was stored.
   */
  readonly placeScore: number;
}

/** A fan who has had a turn, with the score of its queue entry. */
export type UsedTurn = readonly [userId: string, placeScore: number];

/** How many turns of a match were granted, and how they ended. */
export interface TurnCounts {
  readonly granted: number;
  readonly completed: number;
  /** Turns that ended without a purchase. */
  readonly expired: number;
}

/** The turns that are stored in PostgreSQL. The waiting room is restored from them after a loss of Redis. */
export abstract class StoredTurns {
  /**
   * Begins to restore the waiting room of a match. Returns the new generation (number of the match's state in Redis). From now on
   * a turn that was granted under an older generation and is not stored yet is void and will never be stored. So the turns that
   * are read after this call are complete.
   */
  abstract nextGeneration(matchId: string): Promise<number>;
  abstract counts(matchId: string): Promise<TurnCounts>;
  /** The turns of a match that have not ended, the one that expires first at the front. */
  abstract open(matchId: string): Promise<readonly StoredTurn[]>;
  /**
   * The fans who got a turn so recently that a receipt issued before the turn may still be valid. (A receipt restores a queue
   * entry after a loss of Redis; these fans have used theirs.) Each fan comes with the score (join time in µs) of the latest queue
   * entry that got a turn. Sorted by user id; at most `limit` fans after `afterUserId`.
   */
  abstract used(matchId: string, afterUserId: string | null, limit: number): Promise<readonly UsedTurn[]>;
  /** Ends every turn of a match whose sale was closed. */
  abstract endAll(matchId: string): Promise<void>;
}
