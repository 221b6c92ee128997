import { Outbox, type OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import { namedSql } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';

/** Adds messages to the outbox. `messages` is a JSON array of OutboxMessage. */
const APPEND_MESSAGES = namedSql<{ readonly messages: string }>(
  'append-messages',
  `
  insert into outbox (id, destination, event, aggregate_id, series, body, available_at)
  select id, destination, event, "aggregateId", series, body, now() + make_interval(secs => coalesce("afterSeconds", 0))
  from jsonb_to_recordset(:messages::jsonb)
    as m(id uuid, destination text, event text, "aggregateId" text, series uuid, body jsonb, "afterSeconds" integer)`,
);

/**
 * Writes messages to the table `outbox`, in the transaction of the change that they report. The relay delivers them after the
 * commit.
 */
export class PostgresOutbox extends Outbox {
  async append(tx: Transaction, messages: readonly OutboxMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const postgres = inside(tx);
    await postgres.write(APPEND_MESSAGES.with({ messages: JSON.stringify(messages) }));
    for (const { destination } of messages) postgres.destinations.add(destination);
  }
}
