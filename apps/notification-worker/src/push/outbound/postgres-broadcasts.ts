import { namedSql } from '#platform/postgres/named-sql';
import { registerGauges } from '#platform/health/gauges';
import { runUnprepared } from '#platform/postgres/database';
import type { Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import type { Broadcasts } from '../application/ports.ts';

/** Number of broadcasts, the newest ones, whose progress is reported as metrics. There are only a few broadcasts a week. */
const MAX_WITH_METRICS = 10;

/**
 * Reads the FCM tokens of a range of a broadcast's devices, as one row with a JSON array. The driver would need more time to read
 * 500 rows than all other work on a range takes.
 */
const BROADCAST_TOKENS = namedSql<{ readonly broadcastId: string; readonly from: number; readonly to: number }>(
  'broadcast-tokens',
  `
  select json_agg(fcm_token order by ordinal) as tokens
  from broadcast_devices where broadcast_id = :broadcastId and ordinal >= :from and ordinal < :to`,
);

/** Counts how many devices of the newest broadcasts of the last week are done, have a dead token, or refused the push. */
const BROADCAST_PROGRESS = namedSql<{ readonly limit: number }>(
  'broadcast-progress',
  `
  select broadcasts.id, broadcasts.template, broadcasts.devices,
         coalesce(sum(cardinality(done)), 0)::int as done,
         coalesce(sum(dead), 0)::int as dead, coalesce(sum(refused), 0)::int as refused
  from (select * from broadcasts where created_at > now() - interval '7 days' order by created_at desc limit :limit) broadcasts
  left join push_progress on push_progress.broadcast_id = broadcasts.id
  group by broadcasts.id, broadcasts.template, broadcasts.devices`,
);

/** How far a broadcast is: numbers of its devices. */
interface BroadcastProgress {
  readonly id: string;
  readonly template: string;
  readonly devices: number;
  /** Devices with a final result: delivered, dead or refused. */
  readonly done: number;
  readonly dead: number;
  readonly refused: number;
}

/** Reads the broadcasts that the monolith has stored (apps/monolith/src/fans/postgres-fan-broadcasts.ts). */
export class PostgresBroadcasts implements Broadcasts {
  constructor(private readonly database: DataSource) {}

  async tokens(broadcastId: string, { from, to }: { from: number; to: number }): Promise<string[]> {
    const statement = BROADCAST_TOKENS.with({ broadcastId, from, to });
    const [row] = await runUnprepared<{ tokens: string[] | null }[]>(this.database, statement);
    return row?.tokens ?? [];
  }

  /** The progress of the newest broadcasts. */
  progress(): Promise<BroadcastProgress[]> {
    return runUnprepared(this.database, BROADCAST_PROGRESS.with({ limit: MAX_WITH_METRICS }));
  }

  /** Registers the gauge of the newest broadcasts' progress. */
  observe(registry: Registry): void {
    registerGauges(registry, () => this.progress(), [
      {
        name: 'notification_broadcast_devices',
        help: 'Devices of the newest broadcasts: waiting, delivered, dead (token removed) or refused by the provider.',
        labels: ['broadcast', 'template', 'state'],
        isReset: true,
        values: (all) =>
          all.flatMap(({ id: broadcast, template, devices, done, dead, refused }) => {
            const states = { waiting: devices - done, delivered: done - dead - refused, dead, refused };
            return Object.entries(states).map(([state, count]) => [count, { broadcast, template, state }] as const);
          }),
      },
    ]);
  }
}
