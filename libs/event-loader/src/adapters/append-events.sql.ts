import { namedSql } from '#platform/postgres/named-sql';

interface AppendParameters {
  readonly source: string;
  /** The cursor before and after the append. */
  readonly from: string | null;
  readonly to: string | null;
  readonly lockNumber: number;
  /** Joined by `SEPARATOR`, as are the payloads. */
  readonly ids: string;
  readonly payloads: string;
  /** How many events there are, and how many of them may be stored: the first ones. The others are only compared. */
  readonly offeredCount: number;
  readonly storableCount: number;
  /** A JSON array. */
  readonly bad: string;
  /** Duplicates inside the answer. */
  readonly duplicates: number;
  readonly gaps: number;
  /** Null: the events are not marked as due. */
  readonly feeds: string | null;
  /** The source's digest: how many events it has up to an id. */
  readonly digestId: string | null;
  readonly digestCount: number | null;
  /** The source has no more events. */
  readonly isCaughtUp: boolean;
}

/** What became of the events. No row: the cursor has moved, or a newer lock was granted; then nothing was changed. */
export interface AppendedCounts {
  readonly stored: number;
  readonly refused: number;
  readonly quarantined: number;
}

/** Separates ids and payloads. */
export const SEPARATOR = '\u001e';

/** All steps. First: check the cursor and the lock number, insert the events. */
const appendSql = (onConflict: string): string => `
with current as (
  -- The source's row, locked: a second append of the source waits here and then finds that the cursor has moved.
  select source, stored from loader_sources
  where source = :source and cursor is not distinct from :from and fence <= :lockNumber::bigint for update
), offered as materialized (
  select id, payload::jsonb as payload, position
  from unnest(string_to_array(:ids::text, chr(30)), string_to_array(:payloads::text, chr(30))) with ordinality as o(id, payload, position)
), fresh as (
  insert into loaded_events (source, event_id, payload)
  select current.source, id, payload from current, offered where position <= :storableCount::int order by position
  ${onConflict} returning event_id
), ${COMPARE_COUNT_AND_MOVE_CURSOR}`;

/** Compares the events that are stored already, quarantines bad ones, counts, and moves the cursor. */
const COMPARE_COUNT_AND_MOVE_CURSOR = `
known as (
  -- Stored events are read only if not all events could be inserted: an append without duplicates does not pay for it.
  select o.id, o.payload, l.payload is distinct from o.payload as differs
  from offered o join loaded_events l on l.source = :source and l.event_id = o.id
  where exists (select from current) and (select count(*) from fresh) < :offeredCount::int
), bad as (
  insert into quarantined_events (source, event_id, code, digest, detail, content)
  select current.source, b.id, b.code, md5(b.content), b.detail, b.content
  from current, (
    select coalesce(id, '') as id, code, detail, content
    from jsonb_to_recordset(:bad::jsonb) as given(id text, code text, detail text, content text)
    union
    select id, 'EVENT_IMMUTABILITY_VIOLATION', 'it is stored with another content', left(payload::text, 2000) from known where differs
  ) b on conflict do nothing returning code
), due as (
  insert into loaded_events_due (source, event_id, feeds) select :source, event_id, :feeds from fresh where :feeds::text is not null
), counted as (
  -- missing: what the source's own count has and we have not. It is known only when the cursor reaches the digest's id.
  select current.source,
         (select count(*) from fresh) as stored,
         (select count(*) from known where not differs) + :duplicates::int as refused,
         (select count(*) from bad) as quarantined,
         :offeredCount::int + :duplicates::int + jsonb_array_length(:bad::jsonb) as offered,
         case when :digestId::text = :to then
           :digestCount::bigint - current.stored - (select count(*) from fresh) - (select count(*) from bad where code = 'EVENT_INVALID')
           - (select count(*) from quarantined_events where source = :source and code = 'EVENT_INVALID') end as missing
  from current
), balance as (
  -- One row an hour: every offered event is stored, refused, quarantined or dropped.
  insert into loader_balance as b (source, hour, offered, stored, refused_duplicates, quarantined, dropped, missing)
  select source, date_trunc('hour', now()), offered, stored, refused, quarantined, offered - stored - refused - quarantined, missing
  from counted
  on conflict (source, hour) do update set
    offered = b.offered + excluded.offered, stored = b.stored + excluded.stored,
    refused_duplicates = b.refused_duplicates + excluded.refused_duplicates,
    quarantined = b.quarantined + excluded.quarantined, dropped = b.dropped + excluded.dropped,
    missing = coalesce(excluded.missing, b.missing)
)
-- Moves the cursor. last_error is cleared, unless the answer had only bad events that were known: another loader may have just
-- written the error.
update loader_sources s set
  cursor = :to, fence = :lockNumber::bigint, gaps = s.gaps + :gaps::bigint,
  last_error = case when jsonb_array_length(:bad::jsonb) > 0 and :offeredCount::int + c.quarantined = 0 and cursor is not distinct from :to
                    then s.last_error end,
  stored = s.stored + c.stored, refused_duplicates = s.refused_duplicates + c.refused, quarantined = s.quarantined + c.quarantined,
  missing = coalesce(c.missing, s.missing), caught_up_at = case when :isCaughtUp::boolean then now() else s.caught_up_at end
from counted c
where s.source = c.source
returning c.stored::int, c.refused::int, c.quarantined::int`;

/**
 * Stores one batch, which may contain events that are stored already. It is a transaction by itself: all changes or none.
 *
 * Guarantees
 * - Nothing is changed unless the cursor is still `from` and no newer lock number has written.
 * - A stored event never changes. An event that is stored already is a refused duplicate if its content is the same, otherwise a
 *   violation of immutability, which is quarantined.
 *
 * Ids and payloads are sent as one text each, joined by a character that JSON never contains. In a text array every quote would
 * need a backslash, which cost a sixth of the loader's time and of the bytes.
 */
export const APPEND_EVENTS = namedSql<AppendParameters>('loader-append', appendSql('on conflict do nothing'));

/** A fifth faster, because it does not check for conflicts. An event that is stored already makes the whole statement fail. */
export const APPEND_ONLY_NEW_EVENTS = namedSql<AppendParameters>('loader-append-only-new', appendSql(''));
