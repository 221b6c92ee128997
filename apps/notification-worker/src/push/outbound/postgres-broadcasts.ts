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
    const rows = await this.database.query<{ fcm_token: string }[]>(
      `select fcm_token from broadcast_devices where broadcast_id = $1 and ordinal >= $2 and ordinal < $3 order by ordinal`,
      [broadcastId, from, to],
    );
    return rows.map(({ fcm_token }) => fcm_token);
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
