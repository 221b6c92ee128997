-- What is needed to restore the waiting room of a match after Redis has lost it.

-- Join time (µs) of the place that had this turn: no receipt brings that place back.
alter table purchase_windows add column place_score bigint;
-- The windows that may still be open are those that have not ended by their time. Neither column ever changes, so ending a window
-- does not touch this index.
create index purchase_windows_by_expiry on purchase_windows (match_id, expires_at);

-- Grows with every restoring of a match. A turn that Redis granted under an older generation and that is not stored here is void.
create table queue_generations (
  match_id   uuid primary key,
  generation integer not null
);
