import { namedSql } from '#platform/postgres/named-sql';

/** Reads the cursor of a source: the id of its last loaded event. */
export const READ_CURSOR = namedSql<{ readonly source: string }>(
  'loader-cursor',
  'select cursor from loader_sources where source = :source',
);

interface PollFailure {
  readonly source: string;
  readonly error: string;
  /** The source answered 401 or 403. */
  readonly isRefusal: boolean;
}

/**
 * Counts a failed poll of a source and stores its error. `should_alert` is true for the first refusal (401 or 403) in an hour, so
 * only one of all loaders alerts operators. If that loader dies before it has alerted, only the log has the refusal until the
 * next hour.
 */
export const RECORD_POLL_FAILURE = namedSql<PollFailure>(
  'record-poll-failure',
  `
  update loader_sources set errors = errors + 1, last_error = :error,
    refusal_told_at = case when :isRefusal and refusal_told_at > now() - interval '1 hour' is not true then now() else refusal_told_at end
  where source = :source returning :isRefusal and refusal_told_at = now() as should_alert`,
);

/**
 * The state of all sources, for operators and metrics. Counters are read as floats, which is exact, because they stay below 2^53.
 */
export const SOURCE_STATUS = namedSql<object>(
  'source-status',
  `
  select source, cursor, stored::float as stored, refused_duplicates::float as refused_duplicates, quarantined::float as quarantined,
         last_error, transported_again::float as transported_again, gaps::float as gaps, missing::float as missing,
         errors::float as errors, extract(epoch from now() - coalesce(caught_up_at, asked_since))::float as lag_seconds,
         (select count(*)::int from loaded_events_due d where d.source = s.source and parked_at is null) as due,
         (select count(*)::int from loaded_events_due d where d.source = s.source and parked_at is not null) as parked,
         (select count(*)::int from loaded_conflicts c where c.source = s.source and resolved_at is null) as conflicts
  from loader_sources s order by source`,
);
