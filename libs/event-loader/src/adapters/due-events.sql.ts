import { namedSql } from '#platform/postgres/named-sql';

/*
 * Loaded events that have not taken effect yet (`loaded_events_due`), and what an effect could not do (`loaded_conflicts`). A due
 * row is deleted or delayed in the transaction of the effect.
 */

/** In the order in which the events were loaded. A parked event does not delay later ones. */
export const NEXT_DUE_EVENTS = namedSql<{ readonly limit: number }>(
  'next-due-events',
  `
  select d.source, d.event_id as "eventId", d.feeds, l.payload
  from loaded_events_due d join loaded_events l using (source, event_id)
  where d.parked_at is null and d.due_at <= now() order by d.seq limit :limit`,
);

interface FailedEvent {
  readonly source: string;
  readonly eventId: string;
  readonly reason: string;
  /** The event can never succeed. */
  readonly isFinal: boolean;
  readonly maxAttempts: number;
}

/** Schedules a retry after 1, 2, 4 … at most 300 seconds, or parks the event for people. */
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

/** Resolves the conflicts of an event whose subjects are no longer in conflict. */
export const RESOLVE_CONFLICTS = namedSql<EventConflicts & { readonly subjects: readonly string[] }>(
  'resolve-conflicts',
  `
  update loaded_conflicts set resolved_at = now()
  where source = :source and event_id = :eventId and resolved_at is null and subject <> all(:subjects::text[])`,
);

/** Records conflicts, a JSON array. A conflict that people have resolved stays resolved, unless its code has changed. */
export const RECORD_CONFLICTS = namedSql<EventConflicts & { readonly conflicts: string }>(
  'record-conflicts',
  `
  insert into loaded_conflicts as known (source, event_id, subject, code, detail)
  select :source, :eventId, subject, code, detail from jsonb_to_recordset(:conflicts::jsonb) as c(subject text, code text, detail text)
  on conflict (source, event_id, subject) do update set code = excluded.code, detail = excluded.detail,
    resolved_at = case when known.code = excluded.code then known.resolved_at end`,
);
