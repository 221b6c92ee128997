-- announce-positions: tells the monolith which fans without a socket have passed place 1,000, 100 or 10, so that it can push.
--
-- Guarantee: at most one event in interval_ms and 500 fans in it, those nearest to the front first; each passing at most
-- once, whichever pods ask. Safe to repeat. O(passed), at most 2,000 looked at.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 interval_ms  5 fans a minute, 0 when unknown  6 free windows
--       7 minutes for each fan behind those
-- Returns how many fans the event names.
local MOST_TOLD, MOST_READ = 500, 2000
local per_minute, free, minutes_behind = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

if status_now() ~= 'active' then return 0 end
if now_ms - (tonumber(redis.call('HGET', meta, 'positions_at')) or 0) < tonumber(ARGV[4]) then return 0 end

local function score_of(entry)
  local found = redis.call('ZRANGE', line, entry, entry, 'WITHSCORES')
  return found[2] and digits(tonumber(found[2]))
end

local function has_socket(user)
  local session = redis.call('GET', session_key(user))
  return session and type(cjson.decode(session).websocket_id) == 'string'
end

local items, named, looked_at = {}, {}, 0
for _, mark in ipairs({ 10, 100, 1000 }) do
  local reached = score_of(mark - 1) or score_of(-1)
  local before = redis.call('HGET', meta, 'mark_' .. mark)
  if reached and not before then redis.call('HSET', meta, 'mark_' .. mark, reached) end
  if reached and before and tonumber(reached) > tonumber(before) then
    redis.call('HSET', meta, 'mark_' .. mark, reached)
    for _, user in ipairs(redis.call('ZRANGEBYSCORE', line, '(' .. before, reached, 'LIMIT', 0, MOST_READ - looked_at)) do
      looked_at = looked_at + 1
      if #items < MOST_TOLD and not named[user] and not has_socket(user) then
        named[user] = true
        local position = redis.call('ZRANK', line, user) + 1
        local minutes = 'null'
        if per_minute > 0 then
          minutes = digits(math.ceil(math.max(position / per_minute, math.max(0, position - free) * minutes_behind)))
        end
        items[#items + 1] = '{"user_id":"' .. user .. '","position":' .. position .. ',"estimated_wait_minutes":' .. minutes .. '}'
      end
    end
  end
end
if #items == 0 then return 0 end
redis.call('HSET', meta, 'positions_at', digits(now_ms))
announce('{"event":"queue.position_update","match_id":"' .. match_id .. '","items":[' .. table.concat(items, ',') .. ']}')
return #items
