-- drop-absent: takes out of the line who has given no sign of life for persistence_s.
--
-- Guarantee: nobody who was seen within that time, or could not be seen because no pod was running; everybody behind moves
-- up; the fan hears `expired`. Bounded by `limit`. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 limit
-- Returns how many it looked at; `limit` means: call again.
if not status_now() then return 0 end
-- Pods call this many times a second: a longer silence means that none was there to see anybody.
local LONGEST_BLINK_MS = math.max(10000, presence_ms)
local swept_at = tonumber(redis.call('HGET', meta, 'swept_at') or now_ms)
if now_ms - swept_at > LONGEST_BLINK_MS then redis.call('HSET', meta, 'blind_until', digits(now_ms)) end
if now_ms - swept_at > 1000 or swept_at >= now_ms then redis.call('HSET', meta, 'swept_at', digits(now_ms)) end

local life_ms = math.max(persistence_s * 1000, presence_ms)
if blind_until_ms() + life_ms > now_ms then return 0 end
local limit, long_ago = tonumber(ARGV[4]), now_ms - life_ms
local due = redis.call('ZRANGEBYSCORE', seen, '-inf', digits(long_ago), 'LIMIT', 0, limit)
local looked_at = #due

-- Who joined so long ago and was never seen since. Each is asked about once: whoever is in `seen` stays there, and who is put
-- back into the middle of the line is put there too.
local joined = looked_at < limit and redis.call('ZRANGEBYSCORE', line, '(' .. (redis.call('HGET', meta, 'swept_score') or '0'),
  '(' .. digits((long_ago + 1) * 1000), 'WITHSCORES', 'LIMIT', 0, limit - looked_at) or {}
if #joined > 0 then
  local users = {}
  for i = 1, #joined, 2 do users[#users + 1] = joined[i] end
  for i, seen_at in ipairs(redis.call('ZMSCORE', seen, unpack(users))) do
    if not seen_at then due[#due + 1] = users[i] end
  end
  redis.call('HSET', meta, 'swept_score', digits(tonumber(joined[#joined])))
  looked_at = looked_at + #users
end

local dropped = {}
for _, user in ipairs(due) do
  local score = take_out(user)
  if score then
    dropped[#dropped + 1] = score
    end_entry(user, 'dropped')
    tell_pods_of_fan(user)
  else
    forget_presence(user)
  end
end
if #dropped > 0 then
  redis.call('HINCRBY', meta, 'dropped', #dropped)
  count_line()
  tell_moves('gone', dropped)
end
return looked_at
