-- drop-absent: removes fans from the line who have given no sign of life for persistence_s.
--
-- Guarantee: never drops a fan who was seen within persistence_s. Time without any running pod does not count. The state of a dropped
-- fan is `expired`, and fans behind move up. Checks at most `limit` fans. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 limit
-- Returns the number of checked fans; `limit` means: call again.
if not status_now() then return 0 end
-- Pods call this several times a second. A longer pause than this means that no pod was running.
local MAX_PAUSE_MS = math.max(10000, presence_ms)
local swept_at = tonumber(redis.call('HGET', meta, 'swept_at') or now_ms)
if now_ms - swept_at > MAX_PAUSE_MS then redis.call('HSET', meta, 'blind_until', digits(now_ms)) end
if now_ms - swept_at > 1000 or swept_at >= now_ms then redis.call('HSET', meta, 'swept_at', digits(now_ms)) end

local life_ms = math.max(persistence_s * 1000, presence_ms)
if blind_until_ms() + life_ms > now_ms then return 0 end
local limit, oldest_allowed_ms = tonumber(ARGV[4]), now_ms - life_ms
local due = redis.call('ZRANGEBYSCORE', seen, '-inf', digits(oldest_allowed_ms), 'LIMIT', 0, limit)
local checked = #due

-- Fans who joined before oldest_allowed_ms and have given no sign of life since. `swept_score` moves along the line, so each fan is
-- checked here only once: a fan who is in `seen` stays in it, and a fan whose entry is restored is added to it.
local joined = checked < limit and redis.call('ZRANGEBYSCORE', line, '(' .. (redis.call('HGET', meta, 'swept_score') or '0'),
  '(' .. digits((oldest_allowed_ms + 1) * 1000), 'WITHSCORES', 'LIMIT', 0, limit - checked) or {}
if #joined > 0 then
  local users = {}
  for i = 1, #joined, 2 do users[#users + 1] = joined[i] end
  for i, seen_at in ipairs(redis.call('ZMSCORE', seen, unpack(users))) do
    if not seen_at then due[#due + 1] = users[i] end
  end
  redis.call('HSET', meta, 'swept_score', digits(tonumber(joined[#joined])))
  checked = checked + #users
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
return checked
