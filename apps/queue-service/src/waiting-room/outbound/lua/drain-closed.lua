-- drain-closed: writes the final state of fans whose line or windows were closed, in batches.
--
-- Guarantee: each fan gets the final state once, and for each ended window one event is published. A pod may go on where another
-- stopped. Processes at most `limit` fans. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 limit
-- Returns the number of processed fans; 0 means that the line is drained.
if not generation then return 0 end
local last = tonumber(ARGV[4]) - 1
-- Windows first, because the monolith waits for their events.
local users = redis.call('ZRANGE', closing_window_ends, 0, last)
if #users <= last then
  for _, user in ipairs(redis.call('ZRANGE', closing_line, 0, last - #users)) do users[#users + 1] = user end
end
for _, user in ipairs(users) do finish_closing(user) end
return #users
