import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PageRequest } from '../tree/postgres-quotas.ts';
import type { InvitationToSend } from './invitation-messages.ts';
import * as sql from './messages.sql.ts';

/** An invitation whose reminder is due, and its latest claim. */
export interface DueReminder {
  readonly id: string;
  readonly matchId: string;
  readonly reservationId: string | null;
}

/** What the messages of a reminder say; the prices are those of the quota. */
export type ReminderFacts = Omit<InvitationToSend, 'totalCents' | 'token'> & {
  readonly sectorId: string;
  readonly priceCents: Readonly<Record<string, number>>;
};

/** The reminders of invitations: which are due, and which were planned. */
@Injectable()
export class PostgresReminders {
  constructor(private readonly dataSource: DataSource) {}

  async due({ after, limit }: PageRequest): Promise<readonly DueReminder[]> {
    return this.dataSource.query<DueReminder[]>(sql.DUE_REMINDERS, [after ?? null, limit]);
  }

  /** Locks the invitations whose reminder is still due, without those that another process has locked or that were claimed meanwhile. */
  async lockDue(tx: Transaction, due: readonly DueReminder[]): Promise<readonly ReminderFacts[]> {
    const ids = due.map(({ id }) => id);
    const reservationIds = due.map(({ reservationId }) => reservationId);
    return inside(tx).rows<ReminderFacts>(sql.LOCK_DUE_REMINDERS.with({ ids, reservationIds }));
  }

  markReminded(tx: Transaction, ids: readonly string[]): Promise<void> {
    return inside(tx).write(sql.MARK_REMINDED.with({ ids }));
  }
}
