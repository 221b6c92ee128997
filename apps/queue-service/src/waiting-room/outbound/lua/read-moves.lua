-- read-moves: what has changed in the line since a pod last looked: all it needs to know every position.
--
-- Guarantee: reads only (but opens a scheduled queue whose time has come). O(moves), bounded by `limit`, however long the line.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 number of the last move known  5 limit
-- Returns { 'unknown' }, { 'state_needed' } or { 'found', queue, moves }, each move { id, { 'gone' | 'back', scores } }.
if not status_now() then return { why_unknown() } end
return { 'found', describe_queue(), redis.call('XRANGE', moves, '(' .. ARGV[4] .. '-0', '+', 'COUNT', ARGV[5]) }
