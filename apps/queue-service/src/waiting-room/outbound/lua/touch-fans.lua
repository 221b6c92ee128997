-- touch-fans: these fans are connected to the pod that calls.
--
-- Guarantee: a sign of life for each who is in line, nothing for the others; who was passed while away is first again.
-- Safe to repeat. O(fans · log line); some hundreds at a time.
--
-- KEYS  the 16 keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4… user_ids
-- Returns how many came back to a front that had passed them.
local users, signs, at = {}, {}, digits(now_ms)
for i = 4, #ARGV do
  users[#users + 1] = ARGV[i]
  signs[#signs + 1] = at
  signs[#signs + 1] = ARGV[i]
end
redis.call('ZADD', seen, 'XX', unpack(signs))
if redis.call('EXISTS', gone) == 1 then redis.call('ZREM', gone, unpack(users)) end
if redis.call('EXISTS', away) == 0 then return 0 end
local returned = 0
for i, score in ipairs(redis.call('ZMSCORE', away, unpack(users))) do
  if score then
    redis.call('ZREM', away, users[i])
    redis.call('ZADD', back, score, users[i])
    returned = returned + 1
  end
end
return returned
