/** A turn as PostgreSQL has it. */
export interface StoredTurn {
  readonly userId: string;
  readonly sessionToken: string;
  readonly expiresAt: Date;
  /** Join time (µs) of the place that had this turn; of a turn stored without one, the time at which it was stored. */
  readonly placeScore: number;
}

export interface TurnCounts {
  readonly granted: number;
  readonly completed: number;
  /** Ended without a purchase. */
  readonly expired: number;
}

/** The turns that outlive a loss of Redis. */
export abstract class StoredTurns {
  /**
   * Begins to restore the waiting room of a match. From now on a turn that was granted under an older generation, and is not stored
   * yet, is void: it is never stored. What is read after this call is therefore complete.
   */
  abstract nextGeneration(matchId: string): Promise<number>;
  abstract counts(matchId: string): Promise<TurnCounts>;
  abstract open(matchId: string): Promise<readonly StoredTurn[]>;
  /**
   * Fans who have had a turn for as long as a receipt is good, each with the score of the latest place that had one. Ordered by fan,
   * at most `limit` after `afterUserId`.
   */
  abstract used(
    matchId: string,
    afterUserId: string | null,
    limit: number,
  ): Promise<readonly (readonly [userId: string, placeScore: number])[]>;
  /** The sale is closed, and with it every turn. */
  abstract endAll(matchId: string): Promise<void>;
}
