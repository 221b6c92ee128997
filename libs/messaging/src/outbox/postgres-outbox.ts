import { Outbox, type OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { APPEND_MESSAGES } from './outbox.sql.ts';

/**
 * Writes messages to the table `outbox`, in the transaction of the change that they report. The relay delivers them after the
 * commit.
 */
export class PostgresOutbox extends Outbox {
  async append(tx: Transaction, messages: readonly OutboxMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const postgres = inside(tx);
    const rows = messages.map((message) => ({
      id: message.id,
      destination: message.destination,
      event: message.event,
      aggregate_id: message.aggregateId ?? null,
      series: message.series ?? null,
      body: message.body,
      after_seconds: message.afterSeconds,
    }));
    await postgres.write(APPEND_MESSAGES.with({ messages: JSON.stringify(rows) }));
    for (const message of messages) postgres.destinations.add(message.destination);
  }
}
