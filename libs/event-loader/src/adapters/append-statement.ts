/**
 * Builds the statement that stores one batch. It is a transaction by itself: all changes of a batch or none. Steps:
 *
 *   check cursor and lock number → store events → compare events that are stored already → quarantine bad events → move cursor
 *
 * A stored event with the same content is a refused duplicate, with another content a violation of immutability. Stored events
 * are read only if not all events could be inserted, so an append without duplicates does not pay for the comparison.
 *
 * `last_error` of the source is cleared, unless the answer had only bad events that were known: another loader may have just
 * written the error.
 *
 * Ids and payloads are sent as one text each, joined by a character that JSON never contains. In a text array every quote would
 * need a backslash, which cost a sixth of the loader's time and of the bytes.
 *
 * $1 source, $2 cursor before, $3 cursor after, $4 lock number, $5 ids and $6 payloads of the events, $7 how many of them may be
 * stored (the others are only compared), $8 bad events as JSON, $9 duplicates inside the answer, $10 gaps, $11 `feeds` of the
 * source (null: the events are not marked as due), $12 and $13 the source's digest: id and count, $14 the number of events in $5,
 * $15 whether the source has no more events.
 */
function appendStatement(onConflict: string): string {
  return `
with current as (
  select source, stored from loader_sources
  where source = $1 and cursor is not distinct from $2 and fence <= $4::bigint for update
), offered as materialized (
  select id, payload::jsonb as payload, position
  from unnest(string_to_array($5::text, chr(30)), string_to_array($6::text, chr(30))) with ordinality as o(id, payload, position)
), fresh as (
  insert into loaded_events (source, event_id, payload)
  select current.source, id, payload from current, offered where position <= $7::int order by position
  ${onConflict} returning event_id
), known as (
  select o.id, o.payload, l.payload is distinct from o.payload as differs
  from offered o join loaded_events l on l.source = $1 and l.event_id = o.id
  where exists (select from current) and (select count(*) from fresh) < $14::int
), bad as (
  insert into quarantined_events (source, event_id, code, digest, detail, content)
  select current.source, b.id, b.code, md5(b.content), b.detail, b.content
  from current, (
    select coalesce(id, '') as id, code, detail, content
    from jsonb_to_recordset($8::jsonb) as given(id text, code text, detail text, content text)
    union
    select id, 'EVENT_IMMUTABILITY_VIOLATION', 'it is stored with another content', left(payload::text, 2000) from known where differs
  ) b on conflict do nothing returning code
), due as (
  insert into loaded_events_due (source, event_id, feeds) select $1, event_id, $11 from fresh where $11::text is not null
), counted as (
  select current.source,
         (select count(*) from fresh) as stored,
         (select count(*) from known where not differs) + $9::int as refused,
         (select count(*) from bad) as quarantined,
         $14::int + $9::int + jsonb_array_length($8::jsonb) as offered,
         case when $12::text = $3 then
           $13::bigint - current.stored - (select count(*) from fresh) - (select count(*) from bad where code = 'EVENT_INVALID')
           - (select count(*) from quarantined_events where source = $1 and code = 'EVENT_INVALID') end as missing
  from current
), balance as (
  insert into loader_balance as b (source, hour, offered, stored, refused_duplicates, quarantined, dropped, missing)
  select source, date_trunc('hour', now()), offered, stored, refused, quarantined, offered - stored - refused - quarantined, missing
  from counted
  on conflict (source, hour) do update set
    offered = b.offered + excluded.offered, stored = b.stored + excluded.stored,
    refused_duplicates = b.refused_duplicates + excluded.refused_duplicates,
    quarantined = b.quarantined + excluded.quarantined, dropped = b.dropped + excluded.dropped,
    missing = coalesce(excluded.missing, b.missing)
)
update loader_sources s set
  cursor = $3, fence = $4::bigint, gaps = s.gaps + $10::bigint,
  last_error = case when jsonb_array_length($8::jsonb) > 0 and $14::int + c.quarantined = 0 and cursor is not distinct from $3
                    then s.last_error end,
  stored = s.stored + c.stored, refused_duplicates = s.refused_duplicates + c.refused, quarantined = s.quarantined + c.quarantined,
  missing = coalesce(c.missing, s.missing), caught_up_at = case when $15::boolean then now() else s.caught_up_at end
from counted c
where s.source = c.source
returning c.stored::int, c.refused::int, c.quarantined::int`;
}

/** For batches that may contain events that are stored already. */
export const APPEND = appendStatement('on conflict do nothing');

/** A fifth faster, because it does not check for conflicts. An event that is stored already makes the whole statement fail. */
export const APPEND_ONLY_NEW = appendStatement('');

/** Separates the ids in $5 and the payloads in $6. */
export const SEPARATOR = '\u001e';
