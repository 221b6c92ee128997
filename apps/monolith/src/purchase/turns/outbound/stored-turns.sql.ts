import { namedSql } from '#platform/postgres/named-sql';

/*
 * Statements for the restore of a match's waiting room after a loss of Redis. They read and write the turns in `purchase_windows`
 * and the generation in `queue_generations`.
 */

/** SQL expression: a turn's score (the fan's join time in µs). A turn stored without a score gets its row's creation time. */
const SCORE = `coalesce(place_score, (extract(epoch from created_at) * 1000000)::bigint)`;
/** How long a receipt of a queue entry may be valid: 24 hours after joining, plus one hour as a margin. */
const RECEIPT_VALIDITY = `interval '25 hours'`;

/**
 * Increases the match's generation by 1 and returns it. STORE_TURN locks the same row, so this statement waits for turns that are
 * being stored.
 */
export const NEXT_GENERATION = namedSql<{ readonly matchId: string }>(
  'next-generation',
  `
  insert into queue_generations as g (match_id, generation) values (:matchId, 1)
  on conflict (match_id) do update set generation = g.generation + 1 returning generation`,
);

/** Counts the turns of a match: all, those that ended with a completed order, and those that ended in another way. */
export const COUNT_TURNS = namedSql<{ readonly matchId: string }>(
  'count-turns',
  `
  select count(*)::int as granted, count(*) filter (where end_reason = 'completed')::int as completed,
         count(*) filter (where end_reason <> 'completed')::int as expired
  from purchase_windows where match_id = :matchId`,
);

/** The turns of a match that have neither ended nor expired. */
export const OPEN_TURNS = namedSql<{ readonly matchId: string }>(
  'open-turns',
  `
  select user_id as "userId", session_token as "sessionToken", expires_at as "expiresAt", ${SCORE} as "placeScore"
  from purchase_windows where match_id = :matchId and expires_at > now() and ended_at is null order by expires_at, user_id`,
);

/**
 * A page of the fans who have had a turn for the match and whose receipt of the queue entry may still be valid, with the highest
 * score of their turns.
 */
export const USED_TURNS = namedSql<{ readonly matchId: string; readonly afterUserId: string | null; readonly limit: number }>(
  'used-turns',
  `
  select user_id as "userId", max(${SCORE}) as score from purchase_windows
  where match_id = :matchId and (:afterUserId::uuid is null or user_id > :afterUserId) and created_at > now() - ${RECEIPT_VALIDITY}
  group by user_id order by user_id limit :limit`,
);

/** Ends all turns of a match, because its line was closed. */
export const CLOSE_TURNS = namedSql<{ readonly matchId: string }>(
  'close-turns',
  `update purchase_windows set ended_at = now(), end_reason = 'closed' where match_id = :matchId and ended_at is null`,
);
