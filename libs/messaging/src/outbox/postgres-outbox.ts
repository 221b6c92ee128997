import type { Origin } from '#application/origin';
import { Outbox, type OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import { jobQueues } from '#contracts/queue-jobs';
import { namedSql } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';
import { currentOrigin } from '#platform/tracing/origin';

/** Adds messages to the outbox. `messages` is a JSON array of OutboxMessage. */
const APPEND_MESSAGES = namedSql<{ readonly messages: string }>(
  'append-messages',
  `
  insert into outbox (id, destination, event, aggregate_id, series, body, available_at, request_id, traceparent)
  select id, destination, event, "aggregateId", series, body, now() + make_interval(secs => coalesce("afterSeconds", 0)),
         origin ->> 'requestId', origin ->> 'traceparent'
  from jsonb_to_recordset(:messages::jsonb)
    as m(id uuid, destination text, event text, "aggregateId" text, series uuid, body jsonb, "afterSeconds" integer, origin jsonb)`,
);

const isNotification = (destination: string): boolean => jobQueues.some((queue) => queue === destination);

/** The message with its origin. A mail or push has the origin in its job, too, because the worker sees only the job. */
function withOrigin(message: OutboxMessage, origin: Origin | undefined): OutboxMessage {
  if (!origin || !isNotification(message.destination)) return { ...message, origin };
  const body = message.body as { readonly about?: object };
  const about = { ...body.about, request_id: origin.requestId, traceparent: origin.traceparent };
  return { ...message, origin, body: { ...body, about } };
}

/**
 * Writes messages to the table `outbox`, in the transaction of the change that they report. The relay delivers them after the
 * commit.
 */
export class PostgresOutbox extends Outbox {
  async append(tx: Transaction, messages: readonly OutboxMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const postgres = inside(tx);
    const current = currentOrigin();
    const rows = messages.map((message) => withOrigin(message, message.origin ?? current));
    await postgres.write(APPEND_MESSAGES.with({ messages: JSON.stringify(rows) }));
    for (const { destination } of messages) postgres.destinations.add(destination);
  }
}
