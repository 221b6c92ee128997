import type { DataSource } from 'typeorm';
import { Broadcasts, type BroadcastProgress } from '../application/ports.ts';

/** The newest ones are watched; there are a handful a week. */
const WATCHED = 10;

/** Broadcasts as the monolith wrote them down (apps/monolith/src/fans/outbound/postgres-announcements.ts). */
export class PostgresBroadcasts extends Broadcasts {
  constructor(private readonly database: DataSource) {
    super();
  }

  async tokens(broadcastId: string, { from, to }: { from: number; to: number }): Promise<string[]> {
    // One row: 500 of them would cost the driver more than all the rest of a range's way.
    const [row] = await this.database.query<{ tokens: string[] | null }[]>(
      `select json_agg(fcm_token order by ordinal) as tokens
       from broadcast_devices where broadcast_id = $1 and ordinal >= $2 and ordinal < $3`,
      [broadcastId, from, to],
    );
    return row?.tokens ?? [];
  }

  async progress(): Promise<BroadcastProgress[]> {
    return this.database.query<BroadcastProgress[]>(
      `select broadcasts.id, broadcasts.template, broadcasts.devices,
              coalesce(sum(cardinality(done)), 0)::int as done,
              coalesce(sum(dead), 0)::int as dead, coalesce(sum(refused), 0)::int as refused
       from (select * from broadcasts where created_at > now() - interval '7 days' order by created_at desc limit ${WATCHED}) broadcasts
       left join push_progress on push_progress.broadcast_id = broadcasts.id
       group by broadcasts.id, broadcasts.template, broadcasts.devices`,
    );
  }
}
