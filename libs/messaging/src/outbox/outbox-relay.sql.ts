import { namedSql } from '#platform/postgres/named-sql';
import type { Delivery, RelayedMessage } from './destination.ts';
import { IS_TOO_OLD } from './stale-messages.sql.ts';

/*
 * The statements with which the outbox relay delivers one batch, in the order of their use. READ COMMITTED on purpose: the relay
 * moves rows and decides nothing; at SERIALIZABLE the inserts of every buyer would conflict with it.
 */

/**
 * An outbox row that the relay has claimed for delivery. `stale`: the message is older than a week. `wanted`: an operator has
 * retried it, so it is sent even if it is old.
 */
export type ClaimedRow = RelayedMessage & { readonly stale: boolean; readonly wanted: boolean };

/**
 * Claims (locks) the outbox rows whose delivery is due, oldest first. With SKIP LOCKED several relays share the work: no row is
 * claimed twice at the same time.
 *
 * Guarantee: a row waits while an earlier row of its aggregate for the same destination is in the outbox, even if another relay
 * has locked the earlier row. This keeps the order within an aggregate, but not across destinations: when the waiting room is
 * down, tickets must still be delivered.
 *
 * The `|| ''` keeps the planner from using the index by destination, where the search for an earlier row of the aggregate would
 * scan all earlier rows.
 */
export const CLAIM_MESSAGES = namedSql<{ readonly destination: string; readonly limit: number }>(
  'claim-messages',
  `
  select id, event, body, request_id as "requestId", traceparent, ${IS_TOO_OLD} as stale, retried_at is not null as wanted
  from outbox o
  where destination = :destination and parked_at is null and available_at <= now()
    and (aggregate_id is null or not exists (
      select from outbox earlier
      where earlier.aggregate_id = o.aggregate_id and earlier.seq < o.seq
        and earlier.destination || '' = o.destination and earlier.parked_at is null))
  order by seq limit :limit for update skip locked`,
);

const DELETE = 'delete from outbox where id = any(:ids::uuid[])';

/** Deletes delivered outbox rows. */
export const DELETE_MESSAGES = namedSql<{ readonly ids: readonly string[] }>('delete-messages', DELETE);

/** Deletes delivered outbox rows and keeps a copy of each in `queued_jobs`, because Redis may lose the delivered job. */
export const MOVE_TO_QUEUED_JOBS = namedSql<{ readonly ids: readonly string[] }>(
  'move-messages-to-queued-jobs',
  `
  with delivered as (${DELETE} returning id, destination, body)
  insert into queued_jobs (message_id, queue, body) select id, destination, body from delivered on conflict do nothing`,
);

interface Failure {
  readonly id: string;
  readonly reason: string;
  readonly outcome: Exclude<Delivery['outcome'], 'delivered'>;
  /** After this number of failures a row is parked. */
  readonly maxFailures: number;
}

/** Records a failed delivery in the outbox row and sets the time of the next attempt, or parks the row for operators. */
export const RECORD_FAILURE = namedSql<Failure>(
  'record-delivery-failure',
  `
  update outbox set attempts = attempts + 1, last_error = :reason,
    -- The last ten errors stay in the row.
    failures = case when jsonb_array_length(failures) >= 10 then failures - 0 else coalesce(failures, '[]') end
      || jsonb_build_object('at', clock_timestamp(), 'error', :reason::text),
    -- Next attempt after 0.5, 1, 2, 4 … seconds, at most 60.
    available_at = now() + make_interval(secs => least(60, 0.5 * 2 ^ least(attempts, 10))),
    parked_at = case when :outcome = 'poison' or (:outcome = 'failed' and attempts + 1 >= :maxFailures) then now() end
  where id = :id`,
);
