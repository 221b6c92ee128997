import { namedSql } from '#platform/postgres/named-sql';
import type { Payload } from '../core/event.ts';

/*
 * Tables of the event loader. `loaded_events_due`: loaded events that have not taken effect yet. `loaded_conflicts`: parts of
 * events that could not be applied, so that an operator decides. A row of `loaded_events_due` is deleted or delayed in the
 * transaction that applies its event.
 */

/** A loaded event that has not taken effect yet. */
export interface DueEvent {
  readonly source: string;
  readonly eventId: string;
  /** What the event feeds, for example `payments`. It selects the code that applies the event. */
  readonly feeds: string;
  readonly payload: Payload;
}

/**
 * The next events to apply of those that feed one of `feeds`, in the order in which they were loaded. A parked event does not delay
 * later ones.
 */
export const NEXT_DUE_EVENTS = namedSql<{ readonly feeds: readonly string[]; readonly limit: number }>(
  'next-due-events',
  `
  select d.source, d.event_id as "eventId", d.feeds, l.payload
  from loaded_events_due d join loaded_events l using (source, event_id)
  where d.parked_at is null and d.due_at <= now() and d.feeds = any(:feeds::text[]) order by d.seq limit :limit`,
);

interface FailedEvent {
  readonly source: string;
  readonly eventId: string;
  readonly reason: string;
  /** True if the event can never succeed. It is then parked at once. */
  readonly isFinal: boolean;
  readonly maxAttempts: number;
}

/**
 * Records that an event could not be applied: schedules a retry after 1, 2, 4 … at most 300 seconds, or parks it for operators.
 */
export const RECORD_EVENT_FAILURE = namedSql<FailedEvent>(
  'record-event-failure',
  `
  update loaded_events_due set attempts = attempts + 1, last_error = :reason,
    due_at = now() + make_interval(secs => least(2 ^ attempts, 300)),
    parked_at = case when :isFinal::boolean or attempts + 1 >= :maxAttempts then now() end
  where source = :source and event_id = :eventId`,
);

interface EventConflicts {
  readonly source: string;
  readonly eventId: string;
}

/**
 * Marks conflicts of an event as resolved, except those about `subjects` (ids of seats or tickets that are still in conflict).
 */
export const RESOLVE_CONFLICTS = namedSql<EventConflicts & { readonly subjects: readonly string[] }>(
  'resolve-conflicts',
  `
  update loaded_conflicts set resolved_at = now()
  where source = :source and event_id = :eventId and resolved_at is null and subject <> all(:subjects::text[])`,
);

/** Records conflicts of an event, a JSON array. A conflict that was resolved stays resolved, unless its code has changed. */
export const RECORD_CONFLICTS = namedSql<EventConflicts & { readonly conflicts: string }>(
  'record-conflicts',
  `
  insert into loaded_conflicts as known (source, event_id, subject, code, detail)
  select :source, :eventId, subject, code, detail from jsonb_to_recordset(:conflicts::jsonb) as c(subject text, code text, detail text)
  on conflict (source, event_id, subject) do update set code = excluded.code, detail = excluded.detail,
    resolved_at = case when known.code = excluded.code then known.resolved_at end`,
);
