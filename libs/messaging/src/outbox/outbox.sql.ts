import { namedSql } from '#platform/postgres/named-sql';

/** Adds messages to the outbox. `messages` is a JSON array; `after_seconds` of a message delays its delivery. */
export const APPEND_MESSAGES = namedSql<{ readonly messages: string }>(
  'append-messages',
  `
  insert into outbox (id, destination, event, aggregate_id, series, body, available_at)
  select id, destination, event, aggregate_id, series, body, now() + make_interval(secs => coalesce(after_seconds, 0))
  from jsonb_to_recordset(:messages::jsonb)
    as m(id uuid, destination text, event text, aggregate_id text, series uuid, body jsonb, after_seconds integer)`,
);
