-- read-queue: reads the state of the queue of a match.
--
-- Guarantee: only reads (and opens a scheduled queue after opens_at).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms
-- Returns { 'unknown' }, { 'state_needed' } or { 'found', queue }.
if not status_now() then return { why_unknown() } end
return { 'found', describe_queue() }
