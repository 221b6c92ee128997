import type { Transaction } from '#application/transaction-manager';
import type { DataSource } from 'typeorm';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import { COUNT_MESSAGES, FIND_MESSAGE, LIST_PARKED, RETRY_MESSAGES } from './parked-messages.sql.ts';

/** A message of the outbox, as operators see it. */
export interface OutboxMessageView {
  readonly id: string;
  readonly destination: string;
  readonly event: string;
  readonly aggregateId: string | null;
  readonly body: unknown;
  readonly createdAt: Date;
  /** Null when the message is not parked: it waits for its delivery or for its next attempt. */
  readonly parkedAt: Date | null;
  /** False while the message waits for its next attempt. */
  readonly isDue: boolean;
  readonly attempts: number;
  /** The last ten failures, oldest first. */
  readonly failures: readonly { readonly at: string; readonly error: string }[];
}

/** How many messages are in the outbox, by state. */
export interface OutboxCounts {
  /** Messages that are due for delivery. */
  readonly waiting: number;
  /** Messages that wait for a later time, for example for the next attempt. */
  readonly delayed: number;
  /** Messages that were set aside for operators. */
  readonly parked: number;
  /** Age of the oldest message that is not parked. */
  readonly oldestSeconds: number;
}

/**
 * The parked messages of the outbox. A message is parked when its delivery failed ten times, when it can never be delivered, or
 * when it is too old. An operator retries or drops it.
 */
export class ParkedMessages {
  constructor(private readonly dataSource: DataSource) {}

  /** Lists parked messages, newest first. `text` (in lower case) is anywhere in the row. All ids are less than `before`. */
  list(filter: { text?: string; event?: string; before?: string; limit: number }): Promise<OutboxMessageView[]> {
    const { before = null, event = null, text = null, limit } = filter;
    return runUnprepared(this.dataSource, LIST_PARKED.with({ before, event, text, limit }));
  }

  /** Finds a message, parked or not, so that an operator who has just retried it sees that it waits for delivery. */
  async find(id: string): Promise<OutboxMessageView | undefined> {
    const [row] = await runUnprepared<OutboxMessageView[]>(this.dataSource, FIND_MESSAGE.with({ id }));
    return row;
  }

  /** Counts all messages in the outbox, parked or not. */
  async counts(): Promise<OutboxCounts> {
    const none = { waiting: 0, delayed: 0, parked: 0, oldestSeconds: 0 };
    const [row = none] = await runUnprepared<OutboxCounts[]>(this.dataSource, COUNT_MESSAGES.with({}));
    return row;
  }

  /** Makes messages due at once, with the full number of attempts, even if they are old. Returns the ids of those that were parked. */
  async retry(tx: Transaction, ids: readonly string[]): Promise<string[]> {
    const postgres = inside(tx);
    const rows = await postgres.rows<{ id: string; destination: string }>(RETRY_MESSAGES.with({ ids }));
    for (const { destination } of rows) postgres.destinations.add(destination);
    return rows.map(({ id }) => id);
  }

  /** Deletes the message. False when it is not parked any more, because then the relay may be delivering it. */
  async drop(tx: Transaction, id: string): Promise<boolean> {
    const rows = await inside(tx).rows('delete from outbox where id = $1 and parked_at is not null returning 1', [id]);
    return rows.length > 0;
  }
}
