-- drain-closed: writes the last word of fans whose line or windows were closed, a batch at a time.
--
-- Guarantee: every one of them once, each ended window with its event; any pod may go on where another stopped.
-- Bounded by `limit`. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 limit
-- Returns how many fans it finished; 0 means drained.
if not generation then return 0 end
local last = tonumber(ARGV[4]) - 1
-- Windows first: the monolith waits for their events.
local users = redis.call('ZRANGE', closing_window_ends, 0, last)
if #users <= last then
  for _, user in ipairs(redis.call('ZRANGE', closing_line, 0, last - #users)) do users[#users + 1] = user end
end
for _, user in ipairs(users) do finish_closing(user) end
return #users
