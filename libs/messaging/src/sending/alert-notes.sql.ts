import { namedSql } from '#platform/postgres/named-sql';

/*
 * The table `alert_notes`: problems that operators must learn of. The column `way` is the channel of the alert (webhook or mail).
 * `told_at` is set when the note is in an alert, or when operators already know. Guarantee: a subject (a dead letter or parked
 * row) has one note for each way, and a note is in at most one alert.
 */

/**
 * Adds notes; `notes` is a JSON array. It runs as a transaction of its own at READ COMMITTED, because at SERIALIZABLE it would
 * conflict with all other writers of notes.
 */
export const ADD_NOTES = namedSql<{ readonly notes: string }>(
  'add-alert-notes',
  `
  insert into alert_notes (way, about, text, subject, told_at)
  select way, about, text, subject, case when is_reported then clock_timestamp() end
  from jsonb_to_recordset(:notes::jsonb) as n(way text, about text, text text, subject text, is_reported boolean)
  on conflict (subject, way) do nothing`,
);

/** Finds the subjects that have no note yet. */
export const UNKNOWN_SUBJECTS = namedSql<{ readonly subjects: readonly string[] }>(
  'unknown-alert-subjects',
  `
  select subject from unnest(:subjects::text[]) subject
  where not exists (select from alert_notes n where n.subject = subject.subject)`,
);

/** Finds the kinds of problems (`about`), with the way, that have notes for which an alert may be created now. */
export const DUE_KINDS = namedSql<{ readonly minIntervalSeconds: number }>(
  'due-alert-kinds',
  `
  select distinct n.way, n.about from alert_notes n
  where n.told_at is null
    -- There is a minimum interval between two alerts of one kind and way.
    and not exists (select from alert_notes told where told.way = n.way and told.about = n.about
                      and told.told_at > now() - make_interval(secs => :minIntervalSeconds))
    -- Notes wait while an alert of the same kind and way is undelivered, for at most an hour.
    and not exists (select from jobs j where j.class = 'alert_operators' and j.done_at is null
                      and j.created_at > now() - interval '1 hour'
                      and j.message ->> 'by' = n.way and j.message ->> 'about' = n.about)`,
);

/**
 * Takes the notes of one kind and way for an alert. If two processes run it at the same time, only one of them gets each note.
 */
export const TAKE_NOTES = namedSql<{ readonly way: string; readonly about: string }>(
  'take-alert-notes',
  `update alert_notes set told_at = now() where way = :way and about = :about and told_at is null returning id, text`,
);

/** Finds alert jobs of the last week that failed for good more than `retryAfterSeconds` ago. */
export const FAILED_ALERTS = namedSql<{ readonly retryAfterSeconds: number }>(
  'failed-alert-jobs',
  `
  select id from jobs where class = 'alert_operators' and failed_at < now() - make_interval(secs => :retryAfterSeconds)
    and done_at is null and created_at > now() - interval '7 days' limit 100`,
);
