-- read-positions: reads the positions of some fans in one call. A pod uses it to read the positions of all its fans in a line.
--
-- Guarantee: only reads. O(fans · log line); pass a few hundred fans at a time.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4… user_ids
-- Returns 'state_needed' or { positions, scores, queue }. Position 1 is the front of the line, 0 a fan with an open window, -1 any
-- other fan. The queue tells which moves the positions include; it is false when the match has no queue.
if not generation and mark ~= 'no_queue' then return why_unknown() end
local positions, scores, users = {}, {}, {}
for i = 4, #ARGV do users[#users + 1] = ARGV[i] end
for i, score in ipairs(redis.call('ZMSCORE', line, unpack(users))) do
  if score then
    positions[i], scores[i] = redis.call('ZRANK', line, users[i]) + 1, digits(tonumber(score))
  else
    positions[i] = tonumber(redis.call('ZSCORE', window_ends, users[i]) or 0) > now_ms and 0 or -1
    scores[i] = false
  end
end
return { positions, scores, redis.call('EXISTS', meta) == 1 and describe_queue() }
