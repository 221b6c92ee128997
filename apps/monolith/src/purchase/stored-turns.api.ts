/** An open turn as stored in PostgreSQL. */
export interface StoredTurn {
  readonly userId: string;
  readonly sessionToken: string;
  readonly expiresAt: Date;
  /** Join time (µs) of the queue entry that got this turn. If it was stored without one: the time at which the turn was stored. */
  readonly placeScore: number;
}

export interface TurnCounts {
  readonly granted: number;
  readonly completed: number;
  /** Turns that ended without a purchase. */
  readonly expired: number;
}

/** Turns stored in PostgreSQL: they survive a loss of Redis. */
export abstract class StoredTurns {
  /**
   * Begins to restore the waiting room of a match; returns the new generation. From now on a turn that was granted under an older
   * generation and is not stored yet is void and is never stored. The turns read after this call are therefore complete.
   */
  abstract nextGeneration(matchId: string): Promise<number>;
  abstract counts(matchId: string): Promise<TurnCounts>;
  abstract open(matchId: string): Promise<readonly StoredTurn[]>;
  /**
   * Fans who got a turn within the validity period of a receipt, each with the score of the latest queue entry that got one.
   * Ordered by user id; at most `limit` fans after `afterUserId`.
   */
  abstract used(
    matchId: string,
    afterUserId: string | null,
    limit: number,
  ): Promise<readonly (readonly [userId: string, placeScore: number])[]>;
  /** Ends every turn of a match whose sale was closed. */
  abstract endAll(matchId: string): Promise<void>;
}
