import { runUnprepared } from '#platform/postgres/database';
import type { DataSource } from 'typeorm';
import type { Broadcasts, BroadcastProgress } from '../application/ports.ts';
import { BROADCAST_PROGRESS, BROADCAST_TOKENS } from './broadcasts.sql.ts';

/** Number of broadcasts, the newest ones, whose progress is reported as metrics. There are only a few broadcasts a week. */
const MAX_WITH_METRICS = 10;

/** Reads the broadcasts that the monolith has stored (apps/monolith/src/fans/postgres-fan-broadcasts.ts). */
export class PostgresBroadcasts implements Broadcasts {
  constructor(private readonly database: DataSource) {}

  async tokens(broadcastId: string, { from, to }: { from: number; to: number }): Promise<string[]> {
    const statement = BROADCAST_TOKENS.with({ broadcastId, from, to });
    const [row] = await runUnprepared<{ tokens: string[] | null }[]>(this.database, statement);
    return row?.tokens ?? [];
  }

  async progress(): Promise<BroadcastProgress[]> {
    return runUnprepared<BroadcastProgress[]>(this.database, BROADCAST_PROGRESS.with({ limit: MAX_WITH_METRICS }));
  }
}
