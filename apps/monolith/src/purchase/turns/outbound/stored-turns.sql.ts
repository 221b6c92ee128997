import { namedSql } from '#platform/postgres/named-sql';

/*
 * What a restore of a match's waiting room reads and writes.
 */

/** A turn stored without a score gets the creation time of its row as the score. */
const SCORE = `coalesce(place_score, (extract(epoch from created_at) * 1000000)::bigint)`;
/** A receipt is valid for 24 hours after joining; one hour is a margin. */
const RECEIPT_VALIDITY = `interval '25 hours'`;

/** Storing a turn locks this row (STORE_TURN), so this upsert waits for turns that are being stored. */
export const NEXT_GENERATION = namedSql<{ readonly matchId: string }>(
  'next-generation',
  `
  insert into queue_generations as g (match_id, generation) values (:matchId, 1)
  on conflict (match_id) do update set generation = g.generation + 1 returning generation`,
);

export const COUNT_TURNS = namedSql<{ readonly matchId: string }>(
  'count-turns',
  `
  select count(*)::int as granted, count(*) filter (where end_reason = 'completed')::int as completed,
         count(*) filter (where end_reason <> 'completed')::int as expired
  from purchase_windows where match_id = :matchId`,
);

export const OPEN_TURNS = namedSql<{ readonly matchId: string }>(
  'open-turns',
  `
  select user_id as "userId", session_token as "sessionToken", expires_at as "expiresAt", ${SCORE} as "placeScore"
  from purchase_windows where match_id = :matchId and expires_at > now() and ended_at is null order by expires_at, user_id`,
);

/** A page of fans who had a turn while a receipt of theirs may still be valid, with the score of their last turn. */
export const USED_TURNS = namedSql<{ readonly matchId: string; readonly afterUserId: string | null; readonly limit: number }>(
  'used-turns',
  `
  select user_id as "userId", max(${SCORE}) as score from purchase_windows
  where match_id = :matchId and (:afterUserId::uuid is null or user_id > :afterUserId) and created_at > now() - ${RECEIPT_VALIDITY}
  group by user_id order by user_id limit :limit`,
);

/** Ends all turns of a closed line. */
export const CLOSE_TURNS = namedSql<{ readonly matchId: string }>(
  'close-turns',
  `update purchase_windows set ended_at = now(), end_reason = 'closed' where match_id = :matchId and ended_at is null`,
);
