import { runUnprepared } from '#platform/postgres/database';
import type { DataSource } from 'typeorm';
import { Broadcasts, type BroadcastProgress } from '../application/ports.ts';
import { BROADCAST_PROGRESS, BROADCAST_TOKENS } from './broadcasts.sql.ts';

/** The newest ones are watched; there are a handful a week. */
const WATCHED = 10;

/** Broadcasts as the monolith wrote them down (apps/monolith/src/fans/outbound/postgres-announcements.ts). */
export class PostgresBroadcasts extends Broadcasts {
  constructor(private readonly database: DataSource) {
    super();
  }

  async tokens(broadcastId: string, { from, to }: { from: number; to: number }): Promise<string[]> {
    const statement = BROADCAST_TOKENS.with({ broadcastId, from, to });
    const [row] = await runUnprepared<{ tokens: string[] | null }[]>(this.database, statement);
    return row?.tokens ?? [];
  }

  async progress(): Promise<BroadcastProgress[]> {
    return runUnprepared<BroadcastProgress[]>(this.database, BROADCAST_PROGRESS.with({ limit: WATCHED }));
  }
}
