-- end-windows: ends the windows whose time is over, by Redis' clock, whether anybody is connected or not.
--
-- Guarantee: each ends once, with its event; never a minute early. Bounded by `limit`. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 limit
-- Returns how many it ended; `limit` means: call again.
if not generation then return 0 end
local due = redis.call('ZRANGEBYSCORE', window_ends, '-inf', digits(now_ms), 'LIMIT', 0, tonumber(ARGV[4]))
for _, user in ipairs(due) do
  if not end_window(user, 'window_timeout') then redis.call('ZREM', window_ends, user) end
end
return #due
