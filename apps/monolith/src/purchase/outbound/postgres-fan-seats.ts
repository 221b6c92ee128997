import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';

export interface FanSeats {
  /** Held, ordered and bought; a hold that expired a moment ago no longer counts. */
  readonly taken: number;
  /** Moves on whenever this fan gets seats of this match. */
  readonly revision: number;
}

interface FanAtMatch {
  readonly matchId: string;
  readonly userId: string;
}

const COUNT = `
  select coalesce(sum(quantity), 0)::int as taken,
         coalesce((select revision from fan_seats where match_id = $1 and user_id = $2), 0) as revision
  from reservations
  where match_id = $1 and user_id = $2 and (status = 'completed' or (status in ('held', 'ordered') and expires_at > now()))`;

/**
 * How many seats of a match a fan has. Counted outside of the transaction that gives more, which then only says "as counted
 * at this revision": under SERIALIZABLE a count leaves its mark on whole pages of the index and aborts strangers, while this
 * upsert touches the fan's own row and nothing else. Seats a fan loses meanwhile make no limit wrong, so they move nothing.
 */
export class PostgresFanSeats {
  constructor(private readonly dataSource: DataSource) {}

  async count({ matchId, userId }: FanAtMatch, tx?: Transaction): Promise<FanSeats> {
    const rows = tx
      ? await inside(tx).rows<FanSeats>(COUNT, [matchId, userId])
      : await this.dataSource.query<FanSeats[]>(COUNT, [matchId, userId]);
    return rows[0] ?? { taken: 0, revision: 0 };
  }

  /** False: somebody gave this fan seats since they were counted. Whoever tries at the same time waits until this commits. */
  async gets(tx: Transaction, { matchId, userId }: FanAtMatch, countedAt: number): Promise<boolean> {
    const rows = await inside(tx).rows(
      `insert into fan_seats (match_id, user_id, revision) values ($1, $2, 1)
       on conflict (user_id, match_id) do update set revision = fan_seats.revision + 1 where fan_seats.revision = $3 returning 1`,
      [matchId, userId, countedAt],
    );
    return rows.length > 0;
  }
}

/** How many seats each of these fans has, in their order. */
export function countFans(fans: readonly FanAtMatch[]): { name: string; text: string; values: unknown[] } {
  return {
    name: 'count-fans',
    text: `
      select coalesce((select sum(quantity) from reservations r
                       where r.match_id = f.match_id and r.user_id = f.user_id
                         and (status = 'completed' or (status in ('held', 'ordered') and expires_at > now()))), 0)::int as taken,
             coalesce((select revision from fan_seats s where s.match_id = f.match_id and s.user_id = f.user_id), 0) as revision
      from unnest($1::uuid[], $2::uuid[]) with ordinality as f(match_id, user_id, position) order by f.position`,
    values: [fans.map(({ matchId }) => matchId), fans.map(({ userId }) => userId)],
  };
}
