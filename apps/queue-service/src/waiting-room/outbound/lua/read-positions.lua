-- read-positions: the positions of some fans in one round trip, for the regular round of a pod over its connections.
--
-- Guarantee: reads only. O(asked · log line); ask for a few hundred at a time.
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3… user_ids
-- Returns { positions, queue }: 1 is the front, 0 has a window that is open, -1 is neither: read the place. The queue is
-- false when the match has none (any more).
local positions = {}
for i = 3, #ARGV do
  local rank = redis.call('ZRANK', line, ARGV[i])
  if rank then
    positions[i - 2] = rank + 1
  else
    positions[i - 2] = tonumber(redis.call('ZSCORE', window_ends, ARGV[i]) or 0) > now_ms and 0 or -1
  end
end
return { positions, redis.call('EXISTS', meta) == 1 and describe_queue() }
