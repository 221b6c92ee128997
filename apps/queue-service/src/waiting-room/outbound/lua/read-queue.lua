-- read-queue: the queue as a whole.
--
-- Guarantee: reads only (but opens a scheduled queue whose time has come).
--
-- KEYS  the 18 keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms
-- Returns { 'unknown' } or { 'found', queue }.
if not status_now() then return { 'unknown' } end
return { 'found', describe_queue() }
