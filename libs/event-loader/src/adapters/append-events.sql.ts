import { namedSql } from '#platform/postgres/named-sql';

interface AppendParameters {
  /** Name of the source, the other system whose events are loaded. */
  readonly source: string;
  /** The source's cursor (the id of its last loaded event) before (`from`) and after (`to`) the append. */
  readonly from: string | null;
  readonly to: string | null;
  readonly lockNumber: number;
  /** Ids of the events, joined by `SEPARATOR`. `payloads` has their payloads in the same order, joined in the same way. */
  readonly ids: string;
  readonly payloads: string;
  /**
   * `offeredCount`: number of events in `ids`. `storableCount`: how many of them, from the first, may be stored. The events after
   * these are only compared with stored events.
   */
  readonly offeredCount: number;
  readonly storableCount: number;
  /** Bad events, which are quarantined; a JSON array. */
  readonly bad: string;
  /** Number of events that the source's answer contained a second time. They are not in `ids`. */
  readonly duplicates: number;
  /** Number of ids between the cursor and the last event that the source did not send. */
  readonly gaps: number;
  /** What the events feed, for example `payments`: they are marked as due for it. Null: they are not marked as due. */
  readonly feeds: string | null;
  /** The source's digest: the source says that it has `digestCount` events up to the id `digestId`. */
  readonly digestId: string | null;
  readonly digestCount: number | null;
  /** True if the source has no more events than these. */
  readonly isCaughtUp: boolean;
}

/**
 * The result row of an append: how many events were stored, refused as duplicates, and quarantined. There is no row, and nothing
 * was changed, when the cursor has moved or a newer lock number has written.
 */
export interface AppendedCounts {
  readonly stored: number;
  readonly refused: number;
  readonly quarantined: number;
}

/** Separates the ids, and the payloads, in the parameters of an append. */
export const SEPARATOR = '\u001e';

/** The whole statement. Its first steps check the cursor and the lock number and insert the events. */
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

/**
 * The later steps of the statement: compare the offered events that are already stored, quarantine bad events, count, and move
 * the cursor.
 */
const COMPARE_COUNT_AND_MOVE_CURSOR = `
known as (
  -- Offered events that are already stored. They are read only if not all offered events were inserted, to save time.
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
  -- missing: number of events in the source's digest that we do not have. Known only when the cursor is at the digest's id.
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
-- Moves the cursor. last_error is cleared, except when the answer had only bad events that are already quarantined: another
-- loader may have just written the error.
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
 * Stores one batch of events, which may contain events that are already stored. The statement is a transaction of its own: it
 * makes all changes or none.
 *
 * Guarantees
 * - Nothing is changed unless the cursor is still `from` and no newer lock number has written.
 * - A stored event never changes. An offered event that is already stored is a refused duplicate if its content is the same. If
 *   not, it is a violation of immutability and is quarantined.
 *
 * Ids and payloads are sent as one text each, joined by a character that JSON never contains. In a text array every quote would
 * need a backslash, which cost a sixth of the loader's time and of the bytes.
 */
export const APPEND_EVENTS = namedSql<AppendParameters>('loader-append', appendSql('on conflict do nothing'));

/**
 * Like APPEND_EVENTS, for batches with only new events. It is a fifth faster, because it does not check for conflicts: if one
 * event is already stored, the whole statement fails.
 */
export const APPEND_ONLY_NEW_EVENTS = namedSql<AppendParameters>('loader-append-only-new', appendSql(''));
