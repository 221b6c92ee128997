import { namedSql } from '#platform/postgres/named-sql';

/*
 * The table `purchase_windows`: turns (permissions to buy) stored in PostgreSQL. The generation of a match (table
 * `queue_generations`) grows with each restore of its waiting room; turns of an older generation are void.
 */

/**
 * Reads a match's generation and locks it until the transaction ends. A restore of the waiting room increases the generation, so
 * it waits for this lock. The turns that the restore reads afterwards are therefore complete.
 */
export const LOCK_GENERATION = namedSql<{ readonly matchId: string }>(
  'lock-generation',
  `select generation from queue_generations where match_id = :matchId for share`,
);

interface NewTurn {
  readonly sessionToken: string;
  readonly matchId: string;
  readonly userId: string;
  readonly expiresAt: string;
  readonly placeScore: number | null;
  /** The generation in which the turn was granted. Null: not known; then the turn is stored without the check. */
  readonly generation: number | null;
}

/** Stores a turn, unless it is already stored. Guarantee: a turn of an older generation is void and is not stored. */
export const STORE_TURN = namedSql<NewTurn>(
  'store-turn',
  `
  -- The match's current generation, locked as in LOCK_GENERATION.
  with current as materialized (select generation from queue_generations where match_id = :matchId for share)
  insert into purchase_windows (session_token, match_id, user_id, expires_at, place_score)
  select :sessionToken, :matchId, :userId, :expiresAt, :placeScore
  where :generation::int is null or :generation >= coalesce((select generation from current), 0)
  on conflict (session_token) do nothing`,
);

/** Ends turns. A turn that has already ended keeps its first reason. */
export const END_TURNS = namedSql<{ readonly sessionTokens: readonly string[]; readonly reason: string }>(
  'end-turns',
  `
  update purchase_windows set ended_at = now(), end_reason = :reason
  where session_token = any(:sessionTokens) and ended_at is null`,
);

interface ExpiredTurn {
  readonly matchId: string;
  readonly userId: string;
  /** Null: ends all turns of the fan for the match. */
  readonly sessionToken: string | null;
  readonly reason: string;
}

/** Ends a fan's turn that the waiting room has ended. */
export const END_TURNS_OF_FAN = namedSql<ExpiredTurn>(
  'end-turns-of-fan',
  `
  update purchase_windows set ended_at = now(), end_reason = :reason
  where match_id = :matchId and user_id = :userId and ended_at is null and (:sessionToken::text is null or session_token = :sessionToken)`,
);

/**
 * Moves the cursor (the id of the last processed event of a match's waiting room), in the transaction that applies the events. It
 * returns no row when another process has moved the cursor meanwhile; then the events have already taken effect.
 */
export const ADVANCE_CURSOR = namedSql<{ readonly matchId: string; readonly from: string; readonly to: string }>(
  'advance-stream-cursor',
  `
  insert into queue_event_cursors (match_id, last_id) values (:matchId, :to)
  on conflict (match_id) do update set last_id = excluded.last_id where queue_event_cursors.last_id = :from returning 1`,
);
