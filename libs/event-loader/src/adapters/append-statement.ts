/**
 * One statement, which is a transaction by itself: everything a fetch changes, or nothing.
 *
 *   cursor as it was, no newer fence → events stored → those known already compared → bad ones set aside → cursor moved
 *
 * Of the known ones the same content is a refused duplicate, another content a violation of immutability. They are looked up
 * only if something was refused: a turn without repetitions pays nothing for it.
 *
 * What was last wrong with the source is forgotten, unless all it sent is bad and known: another loader may have just said so.
 *
 * Ids and payloads come as one text each, parted by what JSON never has in it: an array of texts takes a backslash for every quote,
 * a sixth of the loader's time and of the bytes.
 *
 * $1 source, $2 cursor before, $3 cursor after, $4 fence, $5 ids and $6 payloads of what was offered, $7 how many of those may
 * be stored (the rest is compared only), $8 bad events as JSON, $9 repetitions inside the answer, $10 gaps, $11 who
 * acts upon them, $12 and $13 the source's digest: id and count, $14 how many were offered, $15 whether that is all there is.
 */
function appendStatement(onConflict: string): string {
  return `
with mine as (
  select source, stored from loader_sources
  where source = $1 and cursor is not distinct from $2 and fence <= $4::bigint for update
), offered as materialized (
  select id, payload::jsonb as payload, place
  from unnest(string_to_array($5::text, chr(30)), string_to_array($6::text, chr(30))) with ordinality as o(id, payload, place)
), fresh as (
  insert into loaded_events (source, event_id, payload)
  select mine.source, id, payload from mine, offered where place <= $7::int order by place
  ${onConflict} returning event_id
), known as (
  select o.id, o.payload, l.payload is distinct from o.payload as differs
  from offered o join loaded_events l on l.source = $1 and l.event_id = o.id
  where exists (select from mine) and (select count(*) from fresh) < $14::int
), bad as (
  insert into quarantined_events (source, event_id, code, digest, detail, content)
  select mine.source, b.id, b.code, md5(b.content), b.detail, b.content
  from mine, (
    select coalesce(id, '') as id, code, detail, content
    from jsonb_to_recordset($8::jsonb) as given(id text, code text, detail text, content text)
    union
    select id, 'EVENT_IMMUTABILITY_VIOLATION', 'it is stored with another content', left(payload::text, 2000) from known where differs
  ) b on conflict do nothing returning code
), due as (
  insert into loaded_events_due (source, event_id, feeds) select $1, event_id, $11 from fresh where $11::text is not null
), counted as (
  select mine.source,
         (select count(*) from fresh) as stored,
         (select count(*) from known where not differs) + $9::int as refused,
         (select count(*) from bad) as quarantined,
         $14::int + $9::int + jsonb_array_length($8::jsonb) as offered,
         case when $12::text = $3 then
           $13::bigint - mine.stored - (select count(*) from fresh) - (select count(*) from bad where code = 'EVENT_INVALID')
           - (select count(*) from quarantined_events where source = $1 and code = 'EVENT_INVALID') end as missing
  from mine
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

/** Where repetitions are to be expected. */
export const APPEND = appendStatement('on conflict do nothing');

/** A fifth faster, because nothing is looked up before it is stored; a repetition makes it fail, whole. */
export const APPEND_FRESH = appendStatement('');

/** Between texts. */
export const SEPARATOR = '\u001e';
