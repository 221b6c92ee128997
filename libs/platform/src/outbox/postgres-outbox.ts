import { Outbox, type OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import { inside } from '../postgres/transaction.ts';

/** Writes messages in the transaction of their effect. The relay delivers them after the commit. */
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
    await postgres.write(
      `insert into outbox (id, destination, event, aggregate_id, series, body, available_at)
       select id, destination, event, aggregate_id, series, body, now() + make_interval(secs => coalesce(after_seconds, 0))
       from jsonb_to_recordset($1::jsonb)
         as m(id uuid, destination text, event text, aggregate_id text, series uuid, body jsonb, after_seconds integer)`,
      [JSON.stringify(rows)],
    );
    for (const message of messages) postgres.destinations.add(message.destination);
  }
}
