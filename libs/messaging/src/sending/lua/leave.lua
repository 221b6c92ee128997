-- Records the outcome of calls that enter.lua has allowed. The calls stop counting towards the limit one second from now.
--
-- Fields of the state hash: failures (consecutive), open ('1' if the breaker is open), next_try (time of the next probe, ms),
-- pause_until (ms, after a 429), share and share_at (usable part of the limit after a 429, and when it was set). The hash expires
-- ten minutes after the last call.
--
-- KEYS[1] calls  KEYS[2] state
-- ARGV[1] answered calls (5xx and 429 do not count as answered)  ARGV[2] failed calls: 5xx or no answer
-- ARGV[3] ms to pause after a 429, 0 = none  ARGV[4] failures that open the breaker  ARGV[5] ms between probe calls
-- ARGV[6] calls that were not made, the last ones. Only a report about one permit has any.
-- ARGV[7], [8], [9] a permit: id of its group (enter.lua), number of its first call in the group, number of calls. More permits follow.
-- Returns 'opened' or 'closed' when the breaker has changed, 'open' when it stays open, else ''.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for permit = 7, #ARGV, 3 do
  local group, first, calls = ARGV[permit], tonumber(ARGV[permit + 1]), tonumber(ARGV[permit + 2])
  local last_made = first + calls - 1 - tonumber(ARGV[6])
  for call = first, first + calls - 1 do
    if call > last_made then redis.call('ZREM', KEYS[1], group .. ':' .. call)
    else redis.call('ZADD', KEYS[1], 'XX', now + 1001, group .. ':' .. call) end
  end
end

if tonumber(ARGV[3]) > 0 then
  local known = redis.call('HMGET', KEYS[2], 'pause_until', 'share', 'share_at')
  local share = 1
  if known[2] then share = math.min(1, tonumber(known[2]) + 0.05 * (now - tonumber(known[3])) / 1000) end
  -- Several parallel calls may get a 429 at the same time, so the share is halved at most once per second.
  if not known[3] or now - tonumber(known[3]) > 1000 then
    redis.call('HSET', KEYS[2], 'share', tostring(math.max(0.01, share / 2)), 'share_at', now)
  end
  redis.call('HSET', KEYS[2], 'pause_until', math.max(tonumber(known[1] or 0), now + tonumber(ARGV[3])))
end

local was_open = redis.call('HGET', KEYS[2], 'open') == '1'
local verdict = was_open and 'open' or ''
if tonumber(ARGV[1]) > 0 then
  redis.call('HDEL', KEYS[2], 'failures', 'open', 'next_try')
  verdict = was_open and 'closed' or ''
elseif tonumber(ARGV[2]) > 0 then
  local failures = redis.call('HINCRBY', KEYS[2], 'failures', ARGV[2])
  if not was_open and failures >= tonumber(ARGV[4]) then
    redis.call('HSET', KEYS[2], 'open', '1', 'next_try', now + tonumber(ARGV[5]))
    verdict = 'opened'
  end
end
redis.call('PEXPIRE', KEYS[2], 600000)
return verdict
