-- read-moves: reads the moves of the line (who left, who came back) after a known move. A pod computes the positions of its fans
-- from them.
--
-- Guarantee: only reads (and opens a scheduled queue after opens_at). O(moves), at most `limit`, independent of the line's length.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 number of the last move known  5 limit
-- Returns { 'unknown' }, { 'state_needed' } or { 'found', queue, moves }, each move { id, { 'gone' | 'back', scores } }.
if not status_now() then return { why_unknown() } end
return { 'found', describe_queue(), redis.call('XRANGE', moves, '(' .. ARGV[4] .. '-0', '+', 'COUNT', ARGV[5]) }
