import type { DataSource } from 'typeorm';
import { Broadcasts, type BroadcastProgress } from '../application/ports.ts';

/** How many of the newest broadcasts have metrics. There are only a few a week. */
const MAX_WITH_METRICS = 10;

/** Broadcasts that the monolith stored (apps/monolith/src/fans/outbound/postgres-fan-broadcasts.ts). */
export class PostgresBroadcasts extends Broadcasts {
  constructor(private readonly database: DataSource) {
    super();
  }

  async tokens(broadcastId: string, { from, to }: { from: number; to: number }): Promise<string[]> {
    // All tokens in one row: the driver would need more time to read 500 rows than all other work on a range takes.
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
       from (select * from broadcasts where created_at > now() - interval '7 days' order by created_at desc limit ${MAX_WITH_METRICS}) broadcasts
       left join push_progress on push_progress.broadcast_id = broadcasts.id
       group by broadcasts.id, broadcasts.template, broadcasts.devices`,
    );
  }
}
