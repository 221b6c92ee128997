-- Notes how calls that enter.lua let in have ended. They stop counting one second from now.
--
-- state: failures (in a row), open ('1': the breaker is open), next_try (ms), pause_until (ms, after a 429), share and share_at
-- (how much of the limit is used since a 429). It lives for ten minutes without calls.
--
-- KEYS[1] calls  KEYS[2] state
-- ARGV[1] name of the caller  ARGV[2] calls  ARGV[3] answered (5xx and 429 are no answer)  ARGV[4] failed: 5xx or no answer
-- ARGV[5] ms to pause after a 429, 0 = none  ARGV[6] failures that open  ARGV[7] ms between tries  ARGV[8] calls never made
-- → 'opened' | 'closed' | 'open' | ''
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local calls, made = tonumber(ARGV[2]), tonumber(ARGV[2]) - tonumber(ARGV[8])
for call = 1, calls do
  if call > made then redis.call('ZREM', KEYS[1], ARGV[1] .. ':' .. call)
  else redis.call('ZADD', KEYS[1], 'XX', now + 1001, ARGV[1] .. ':' .. call) end
end

if tonumber(ARGV[5]) > 0 then
  local known = redis.call('HMGET', KEYS[2], 'pause_until', 'share', 'share_at')
  local share = 1
  if known[2] then share = math.min(1, tonumber(known[2]) + 0.05 * (now - tonumber(known[3])) / 1000) end
  -- Calls that were under way together are refused together: one halving for all of them.
  if not known[3] or now - tonumber(known[3]) > 1000 then
    redis.call('HSET', KEYS[2], 'share', tostring(math.max(0.01, share / 2)), 'share_at', now)
  end
  redis.call('HSET', KEYS[2], 'pause_until', math.max(tonumber(known[1] or 0), now + tonumber(ARGV[5])))
end

local was_open = redis.call('HGET', KEYS[2], 'open') == '1'
local verdict = was_open and 'open' or ''
if tonumber(ARGV[3]) > 0 then
  redis.call('HDEL', KEYS[2], 'failures', 'open', 'next_try')
  verdict = was_open and 'closed' or ''
elseif tonumber(ARGV[4]) > 0 then
  local failures = redis.call('HINCRBY', KEYS[2], 'failures', ARGV[4])
  if not was_open and failures >= tonumber(ARGV[6]) then
    redis.call('HSET', KEYS[2], 'open', '1', 'next_try', now + tonumber(ARGV[7]))
    verdict = 'opened'
  end
end
redis.call('PEXPIRE', KEYS[2], 600000)
return verdict
