-- Allows up to `wanted` calls to a provider, or returns how long to wait.
--
-- A call counts towards the limit from now until one second after its answer (leave.lua). Its request reaches the provider within
-- this time. So the provider receives at most `limit` requests within any second, even if the network is slow or a process hangs.
--
-- KEYS[1] calls: sorted set of call → time when it stops counting (ms)   KEYS[2] state: hash, see leave.lua
-- ARGV[1] limit (calls per second)  ARGV[2] wanted calls  ARGV[3] id of this group of calls, unique  ARGV[4] timeout of a call (ms)
-- ARGV[5] ms between probe calls while the breaker is open
-- Returns {allowed calls, ms to wait, reason}. Reason: 'open' the breaker is open, 'busy' pause after a 429, 'rate' limit
-- reached, 'probe' one call is allowed although the breaker is open, '' otherwise.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, wanted, hold = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local state = redis.call('HMGET', KEYS[2], 'open', 'next_try', 'pause_until', 'share', 'share_at')

local open = state[1] == '1'
if open and now < tonumber(state[2]) then return {0, tonumber(state[2]) - now, 'open'} end
if state[3] and now < tonumber(state[3]) then return {0, tonumber(state[3]) - now, 'busy'} end

-- `share` is the part of the limit that may be used. An answer 429 halves it (leave.lua); then it grows by 5 percentage points a
-- second up to 1.
local share = 1
if state[4] then share = math.min(1, tonumber(state[4]) + 0.05 * (now - tonumber(state[5])) / 1000) end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
local free = math.max(1, math.floor(limit * share)) - redis.call('ZCARD', KEYS[1])
if free <= 0 then
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  return {0, math.max(1, math.min(25, tonumber(oldest[2]) - now + 1)), 'rate'}
end

local allowed = math.min(wanted, free)
if open then
  allowed = 1
  redis.call('HSET', KEYS[2], 'next_try', now + tonumber(ARGV[5]))
end
for call = 1, allowed do redis.call('ZADD', KEYS[1], now + hold + 1001, ARGV[3] .. ':' .. call) end
redis.call('PEXPIRE', KEYS[1], hold + 60000)
return {allowed, 0, open and 'probe' or ''}
