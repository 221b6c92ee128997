import type { DataSource } from 'typeorm';
import type { StoredTurns, StoredTurn, TurnCounts, UsedTurn } from '../../stored-turns.api.ts';

/** SQL expression: a turn's score (the fan's join time in µs). A turn stored without a score gets its row's creation time. */
const SCORE = `coalesce(place_score, (extract(epoch from created_at) * 1000000)::bigint)`;
/** How long a receipt of a queue entry may be valid: 24 hours after joining, plus one hour as a margin. */
const RECEIPT_VALIDITY = `interval '25 hours'`;

/**
 * The restore of a match's waiting room after a loss of Redis: reads and writes the turns in `purchase_windows` and the generation
 * in `queue_generations`.
 */
export class PostgresStoredTurns implements StoredTurns {
  constructor(private readonly dataSource: DataSource) {}

  /** STORE_TURN locks the same row, so this statement waits for turns that are being stored. */
  async nextGeneration(matchId: string): Promise<number> {
    const [row] = await this.dataSource.query<[{ generation: number }]>(
      `insert into queue_generations as g (match_id, generation) values ($1, 1)
       on conflict (match_id) do update set generation = g.generation + 1 returning generation`,
      [matchId],
    );
    return row.generation;
  }

  async counts(matchId: string): Promise<TurnCounts> {
    const [row] = await this.dataSource.query<TurnCounts[]>(
      `select count(*)::int as granted, count(*) filter (where end_reason = 'completed')::int as completed,
              count(*) filter (where end_reason <> 'completed')::int as expired
       from purchase_windows where match_id = $1`,
      [matchId],
    );
    return row ?? { granted: 0, completed: 0, expired: 0 };
  }

  async open(matchId: string): Promise<readonly StoredTurn[]> {
    const rows = await this.dataSource.query<(Omit<StoredTurn, 'placeScore'> & { placeScore: string })[]>(
      `select user_id as "userId", session_token as "sessionToken", expires_at as "expiresAt", ${SCORE} as "placeScore"
       from purchase_windows where match_id = $1 and expires_at > now() and ended_at is null order by expires_at, user_id`,
      [matchId],
    );
    return rows.map((row) => ({ ...row, placeScore: Number(row.placeScore) }));
  }

  async used(matchId: string, afterUserId: string | null, limit: number): Promise<readonly UsedTurn[]> {
    const rows = await this.dataSource.query<{ userId: string; score: string }[]>(
      `select user_id as "userId", max(${SCORE}) as score from purchase_windows
       where match_id = $1 and ($2::uuid is null or user_id > $2) and created_at > now() - ${RECEIPT_VALIDITY}
       group by user_id order by user_id limit $3`,
      [matchId, afterUserId, limit],
    );
    return rows.map(({ userId, score }) => [userId, Number(score)]);
  }

  async endAll(matchId: string): Promise<void> {
    const text = `update purchase_windows set ended_at = now(), end_reason = 'closed' where match_id = $1 and ended_at is null`;
    await this.dataSource.query(text, [matchId]);
  }
}
