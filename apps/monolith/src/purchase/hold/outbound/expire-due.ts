import { runReadCommitted } from '#platform/postgres/read-committed';
import type { DataSource } from 'typeorm';
import type { ExpiredBatch } from '../application/reservation-ports.ts';
import { END_LOCKED_RESERVATIONS, LOCK_DUE_RESERVATIONS } from './expire-due.sql.ts';

/** One batch of the expiry sweeper: ends expired reservations in one transaction, which holds its locks for some milliseconds. */
export function expireDueReservations(dataSource: DataSource, limit: number, after: ExpiredBatch['next']): Promise<ExpiredBatch> {
  const lockDue = LOCK_DUE_RESERVATIONS.with({ limit, afterExpiresAt: after?.expiresAt ?? null, afterId: after?.id ?? null });
  return runReadCommitted(dataSource, async (tx) => {
    const due = await tx.query<{ id: string; expiresAt: string }>(lockDue.text, lockDue.values);
    const examined = due.rows.length;
    if (examined === 0) return { examined, ended: 0 };
    const endLocked = END_LOCKED_RESERVATIONS.with({ ids: due.rows.map(({ id }) => id) });
    const { rows } = await tx.query<{ ended: number }>(endLocked.text, endLocked.values);
    const ended = rows[0]?.ended ?? 0;
    return examined < limit ? { examined, ended } : { examined, ended, next: due.rows.at(-1) };
  });
}
