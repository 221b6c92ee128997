-- end-windows: ends the windows whose time is over, by Redis' clock, whether anybody is connected or not.
--
-- Guarantee: each ends once, with its event; never a minute early. Bounded by `limit`. Safe to repeat.
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3 limit
-- Returns how many it ended; `limit` means: call again.
local due = redis.call('ZRANGEBYSCORE', window_ends, '-inf', digits(now_ms), 'LIMIT', 0, tonumber(ARGV[3]))
for _, user in ipairs(due) do
  if not end_window(user, 'window_timeout') then redis.call('ZREM', window_ends, user) end
end
return #due
