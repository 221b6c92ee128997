-- end-windows: ends the windows that have expired on Redis' clock. No fan needs to be connected.
--
-- Guarantee: each window ends once, with its event, and never early. Ends at most `limit` windows. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 limit
-- Returns the number of windows it found; `limit` means: call again.
if not generation then return 0 end
local due = redis.call('ZRANGEBYSCORE', window_ends, '-inf', digits(now_ms), 'LIMIT', 0, tonumber(ARGV[4]))
for _, user in ipairs(due) do
  if not end_window(user, 'window_timeout') then redis.call('ZREM', window_ends, user) end
end
return #due
