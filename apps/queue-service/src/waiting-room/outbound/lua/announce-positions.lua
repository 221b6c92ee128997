-- announce-positions: publishes which fans without a connection have passed position 1,000, 100 or 10. The monolith then sends push
-- notifications to these fans.
--
-- Guarantee: at most one event in interval_ms, with at most 500 fans, those nearest to the front first. A fan is announced at most
-- once for each of the three positions, whichever pods call this. Safe to repeat. O(passed fans), reads at most 2,000.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 interval_ms  5 fans a minute, 0 when unknown  6 free windows
--       7 minutes of waiting for each fan behind the free windows
-- Returns the number of fans in the event.
local MAX_ANNOUNCED, MAX_READ = 500, 2000
local per_minute, free, minutes_behind = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

if status_now() ~= 'active' then return 0 end
if now_ms - (tonumber(redis.call('HGET', meta, 'positions_at')) or 0) < tonumber(ARGV[4]) then return 0 end

-- The score at this index of the line (0 is the front, -1 the end). Nil when the line is shorter.
local function score_at(index)
  local found = redis.call('ZRANGE', line, index, index, 'WITHSCORES')
  return found[2] and digits(tonumber(found[2]))
end

local function has_socket(user)
  local session = redis.call('GET', session_key(user))
  return session and type(cjson.decode(session).websocket_id) == 'string'
end

local items, named, read_count = {}, {}, 0
for _, mark in ipairs({ 10, 100, 1000 }) do
  local reached = score_at(mark - 1) or score_at(-1)
  local before = redis.call('HGET', meta, 'mark_' .. mark)
  if reached and not before then redis.call('HSET', meta, 'mark_' .. mark, reached) end
  if reached and before and tonumber(reached) > tonumber(before) then
    redis.call('HSET', meta, 'mark_' .. mark, reached)
    for _, user in ipairs(redis.call('ZRANGEBYSCORE', line, '(' .. before, reached, 'LIMIT', 0, MAX_READ - read_count)) do
      read_count = read_count + 1
      if #items < MAX_ANNOUNCED and not named[user] and not has_socket(user) then
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
