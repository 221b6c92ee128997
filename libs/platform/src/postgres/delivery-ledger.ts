import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { ProcessedMarks } from '../redis/processed-marks.ts';
import { isConnectionLoss } from './sqlstates.ts';
import { inside } from './transaction.ts';

/*
 * Messages arrive at least once; what they cause happens once. The truth is the table `inbox`, one row per consumer and
 * message, in one of two ways:
 *
 *   effect in PostgreSQL     Inbox.once        row and effect commit together: exactly once
 *   send to the outside      SendClaims        claim → send → finish; known not sent: release (send-claims.ts)
 *
 *   A claim that nobody finished may have been sent and may not. After `lockMs` it may be claimed again, once, and that is
 *   counted as a possible duplicate; a second time it is `uncertain` and people decide: sent back by them after ten minutes,
 *   it is claimed once more.
 *
 *     (none) ──claim──▶ held ──finish──▶ finished
 *       ▲                │ ▲ lock over: claimed again, once
 *       └────release─────┘ └──────────────▶ uncertain
 */

/** For consumers whose whole effect is in our own PostgreSQL. */
export class Inbox {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly marks?: ProcessedMarks,
  ) {}

  /** Runs `work` in the transaction that remembers the message, or not at all when it is remembered already. */
  async once(consumer: string, messageId: string, work: (tx: Transaction) => Promise<void>): Promise<'done' | 'duplicate'> {
    if (await this.marks?.has(consumer, messageId)) return 'duplicate';
    const outcome = await this.transactions.run(async (tx) => {
      if (!(await this.remember(tx, consumer, messageId))) return 'duplicate';
      await work(tx);
      return 'done';
    });
    await this.marks?.add(consumer, messageId);
    return outcome;
  }

  /** False when somebody else already did the work. Two at once: the second one waits for the first one's commit. */
  protected async remember(tx: Transaction, consumer: string, messageId: string): Promise<boolean> {
    const rows = await inside(tx).rows(
      `insert into inbox (consumer, message_id, claimed_at, finished_at, attempts)
       values ($1, $2, clock_timestamp(), clock_timestamp(), 1)
       on conflict (consumer, message_id) do update set finished_at = excluded.finished_at
       where inbox.finished_at is null
       returning true as mine`,
      [consumer, messageId],
    );
    return rows.length > 0;
  }
}

/**
 * PostgreSQL is away, full, or broke off while committing. It says nothing about the message, and because of the row in the
 * inbox it does no harm to let it come again.
 */
export function isLedgerOutage(error: unknown): boolean {
  if (isConnectionLoss(error)) return true;
  if (error instanceof DomainError) return error.code === 'OUTCOME_UNKNOWN';
  return error instanceof Error && /timeout exceeded when trying to connect|Query read timeout/.test(error.message);
}
