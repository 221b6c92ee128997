import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { ProcessedMarks } from './processed-marks.ts';
import { namedSql } from '#platform/postgres/named-sql';
import { isConnectionLoss } from '#platform/postgres/sqlstates';
import { inside } from '#platform/postgres/transaction';

/*
 * Messages arrive at least once, but their effect must happen once. The table `inbox` records which messages are done: one row
 * per consumer and message. There are two ways to use it:
 *
 *   effect in PostgreSQL          Inbox.once    row and effect commit together: exactly once
 *   effect outside (mail, push)   SendClaims    claim → send → finish; release if it was certainly not sent (send-claims.ts)
 *
 *   If a claim is never finished, nobody knows whether its message was sent. After `lockMs` the message can be claimed a second
 *   time, which is counted as a possible duplicate. If the second claim is not finished, the message is `uncertain` and an operator
 *   decides. When the operator retries it, ten minutes later or more, it can be claimed once more.
 *
 *     (none) ──claim──▶ held ──finish──▶ finished
 *       ▲                │ ▲ lock expired: claimed again, once
 *       └────release─────┘ └──────────────▶ uncertain
 */

/**
 * Records messages as done, in the transaction of their effects. Guarantee: of all transactions that record the same message only
 * one gets a result row for it. All other transactions wait for its commit and get no row. A message with a claim that was never
 * finished (send-claims.sql.ts) counts as not done. The order of the ids prevents deadlocks of two batches.
 */
const REMEMBER_MESSAGES = namedSql<{ readonly consumer: string; readonly messageIds: readonly string[] }>(
  'remember-messages',
  `
  insert into inbox (consumer, message_id, claimed_at, finished_at, attempts)
  select :consumer, id, clock_timestamp(), clock_timestamp(), 1 from unnest(:messageIds::text[]) id order by id
  on conflict (consumer, message_id) do update set finished_at = excluded.finished_at
  where inbox.finished_at is null
  returning message_id as id`,
);

/**
 * Runs the effect of each message once, for consumers whose whole effect is in our own PostgreSQL: a row of the table `inbox`
 * commits with the effect.
 */
export class Inbox {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly marks?: ProcessedMarks,
  ) {}

  /** Runs `work` in the transaction that records the message as done. Does not run `work` if the message is already recorded. */
  async once(consumer: string, messageId: string, work: (tx: Transaction) => Promise<void>): Promise<'done' | 'duplicate'> {
    const done = await this.onceEach(consumer, [messageId], (tx) => work(tx));
    return done.has(messageId) ? 'done' : 'duplicate';
  }

  /**
   * Runs `work` for several messages in the transaction that records them as done. `work` gets, and the promise resolves to, the ids
   * that are not recorded yet. The ids must differ.
   */
  async onceEach(
    consumer: string,
    messageIds: readonly string[],
    work: (tx: Transaction, fresh: ReadonlySet<string>) => Promise<void>,
  ): Promise<ReadonlySet<string>> {
    const marked = await this.marks?.allOf(consumer, messageIds);
    const unmarked = messageIds.filter((id) => !marked?.has(id));
    if (unmarked.length === 0) return new Set();
    const done = await this.transactions.run(async (tx) => {
      const fresh = await this.remember(tx, consumer, unmarked);
      if (fresh.size > 0) await work(tx, fresh);
      return fresh;
    });
    await this.marks?.addAll(consumer, unmarked);
    return done;
  }

  /**
   * Records messages as done. Returns the ids of those that were not recorded before. Of two concurrent calls with the same message
   * the second waits for the first's commit.
   */
  protected async remember(tx: Transaction, consumer: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await inside(tx).rows<{ id: string }>(REMEMBER_MESSAGES.with({ consumer, messageIds }));
    return new Set(rows.map(({ id }) => id));
  }
}

/**
 * True when PostgreSQL is unreachable, has no free connection, or the connection broke during COMMIT. The error does
 * not depend on the message. It is safe to process the message again, because the inbox row prevents a second effect.
 */
export function isLedgerOutage(error: unknown): boolean {
  if (isConnectionLoss(error)) return true;
  if (error instanceof DomainError) return error.code === 'OUTCOME_UNKNOWN';
  return error instanceof Error && /timeout exceeded when trying to connect|Query read timeout/.test(error.message);
}
