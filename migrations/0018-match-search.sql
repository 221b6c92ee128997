-- The words of each match for the search. `source` is the text they were made from, so that a match whose row is missing or old is
-- found. Existing matches get their rows when the monolith starts.
create table match_search (
  match_id uuid primary key references matches (id) on delete cascade,
  source text not null,
  words tsvector not null
);
create index match_search_words on match_search using gin (words);

-- The unfinished rebuild of match_search: at most one row. A process that continues it starts after last_match_id.
create table match_search_rebuild (
  id uuid primary key default gen_random_uuid(),
  only_row boolean not null default true unique check (only_row),
  started_at timestamptz not null default now(),
  last_match_id uuid,
  done integer not null default 0
);
