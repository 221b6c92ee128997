-- All tickets of a match are found by an index: those that let somebody in by tickets_one_a_seat, the others by this one. A purchase does
-- not write to it.
create index tickets_ended_by_match on tickets (match_id) where status in ('transferred', 'refunded');
