import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { Reminders, type NoticeMatch } from '../application/ports.ts';

export class PostgresReminders extends Reminders {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async planned(matchIds: readonly string[]): Promise<readonly { matchId: string; kickoffAt: Date }[]> {
    return this.dataSource.query(
      `select match_id as "matchId", kickoff_at as "kickoffAt" from match_reminders where match_id = any($1::uuid[])`,
      [matchIds],
    );
  }

  async claim(tx: Transaction, { id, kickoffAt }: NoticeMatch): Promise<boolean> {
    const rows = await inside(tx).rows(
      `insert into match_reminders (match_id, kickoff_at) values ($1, $2) on conflict do nothing returning 1`,
      [id, kickoffAt],
    );
    return rows.length > 0;
  }
}
