-- join-line: puts fans at the end of the line, or finds the places they already have; up to a hundred in one call.
--
-- Guarantee: strictly first come, first served by Redis' clock, in the order given. The score is the time in µs, raised by
-- one where two joins share a microsecond or the clock went back, so no two fans tie and no pod's clock matters. Joining
-- again, from any device, changes nothing about the place. A receipt restores the place it vouches for, unless that place was
-- used up (left, granted, dropped) or belongs to a line that was closed. Safe to repeat. O(fans · log line).
--
-- KEYS  the 18 keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  then three for each fan, none twice: user_id, token to use for a new
--       place, score of a genuine receipt or ''
-- Returns { 'unknown' } or { 'found', queue, first_position, outcomes }, each outcome the score of a new place (their positions
-- follow each other from first_position), or { 'kept', place }, { 'restored', place } or { 'refused' }: the queue is
-- scheduled or closed. Short, because a hundred of them are on their way to a pod at the busiest time.
local status = status_now()
if not status then return { 'unknown' } end

local DIGITS = { '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' }
local RECEIPT_LIFE_US = 24 * 3600 * 1000000
local count = (#ARGV - 3) / 3
local users = {}
for i = 1, count do users[i] = ARGV[1 + 3 * i] end
local scores = redis.call('ZMSCORE', line, unpack(users))
local open = redis.call('HMGET', windows, unpack(users))
local draining = is_draining()
local is_open = status ~= 'scheduled' and status ~= 'closed'

local last_score = tonumber(redis.call('HGET', meta, 'last_score')) or 0
local outcomes, fresh, fresh_scores, restored, moved = {}, {}, {}, {}, {}

local function is_honoured(user, receipt)
  if receipt == '' or tonumber(receipt) + RECEIPT_LIFE_US < now_us then return false end
  if tonumber(receipt) <= (tonumber(redis.call('HGET', used, user)) or 0) then return false end
  return tonumber(receipt) > (tonumber(redis.call('HGET', meta, 'line_from')) or 0)
end

local function restore(user, receipt)
  redis.call('ZADD', line, receipt, user)
  -- Passed at the later place, which is no more: coming back from there would put it in front of its own.
  redis.call('ZREM', away, user)
  last_score = math.max(last_score, tonumber(receipt))
  restored[#restored + 1] = receipt
  redis.call('HINCRBY', meta, 'restored', 1)
  -- In front of where admission goes on, the fan is one who came back.
  if tonumber(receipt) <= (tonumber(redis.call('HGET', meta, 'passed_score')) or 0) then
    redis.call('ZADD', back, receipt, user)
  end
  redis.call('ZADD', seen, digits(now_ms), user)
end

for i = 1, count do
  local user, new_token, receipt = users[i], ARGV[2 + 3 * i], ARGV[3 + 3 * i]
  local kind, detail = 'none', false
  if scores[i] then
    kind, detail = 'waiting', scores[i]
  elseif open[i] or draining then
    kind, detail = find_place(user)
  end
  if kind == 'waiting' then
    local moves_up = tonumber(receipt) and tonumber(receipt) < tonumber(detail) and is_honoured(user, receipt)
    if moves_up then
      moved[#moved + 1] = digits(tonumber(detail))
      restore(user, receipt)
      detail = receipt
    end
    local session = renew_session(user, kind, detail, new_token)
    outcomes[i] = { moves_up and 'restored' or 'kept', describe_place(user, kind, detail, session) }
  elseif kind == 'granted' then
    outcomes[i] = { 'kept', describe_place(user, kind, detail, renew_session(user, kind, detail, new_token)) }
  elseif not is_open then
    outcomes[i] = { 'refused' }
  else
    -- What was before has ended for good, also where nobody had come by yet to say so.
    if kind == 'window_over' then end_window(user, 'window_timeout') end
    if draining then finish_closing(user) end
    if is_honoured(user, receipt) then
      restore(user, receipt)
      local position = redis.call('ZRANK', line, user) + 1
      outcomes[i] = { 'restored', { 'waiting', position, receipt, new_session(user, position, new_token, persistence_s) } }
    else
      fresh[#fresh + 1] = i
    end
  end
end

local base = 0
if #fresh > 0 then
  -- Nobody has a higher score, so these are the last places, in this order. Numbers become text in Lua at 0.5 µs each, which
  -- is as much as writing them into a set: in a large batch scores and positions are made of hundreds and two digits.
  base = redis.call('ZCARD', line)
  local is_large, two, hundreds, hundreds_text = #fresh > 10, {}, -1, ''
  local first = math.max(now_us, last_score + 1)
  if is_large then
    for tens = 0, 9 do
      for ones = 0, 9 do two[#two + 1] = DIGITS[tens + 1] .. DIGITS[ones + 1] end
    end
    first = math.ceil(first / 100) * 100
  end
  local first_text = digits(math.floor(first / 100))
  local in_line, session_tail = {}, '","websocket_id":null}'
  local key_tail, ends_at = ':{' .. match_id .. '}', digits(session_end(persistence_s))
  for k, i in ipairs(fresh) do
    local user, position = users[i], base + k
    local score = is_large and first_text .. two[k] or digits(first + k - 1)
    if is_large and position >= 100 then
      local ahead = math.floor(position / 100)
      if ahead ~= hundreds then hundreds, hundreds_text = ahead, digits(ahead) end
      position = hundreds_text .. two[position % 100 + 1]
    end
    fresh_scores[k], outcomes[i] = score, score
    in_line[2 * k - 1], in_line[2 * k] = score, user
    redis.call('SET', 'queue_session:' .. user .. key_tail,
      '{"position":' .. position .. ',"queue_token":"' .. ARGV[2 + 3 * i] .. session_tail, 'PXAT', ends_at)
  end
  last_score = first + #fresh - 1
  redis.call('ZADD', line, unpack(in_line))
  redis.call('HINCRBY', meta, 'joins', #fresh)
  -- Who begins in front of a mark of announce-positions.lua has not passed it.
  for _, mark in ipairs({ 10, 100, 1000 }) do
    if base < mark then
      redis.call('HSET', meta, 'mark_' .. mark, fresh_scores[math.min(mark - base, #fresh)])
    end
  end
end
if #fresh + #restored > 0 then
  redis.call('HSET', meta, 'last_score', digits(last_score))
  tell_moves('gone', moved)
  tell_moves('back', restored)
  count_line()
end
return { 'found', describe_queue(), base + 1, outcomes }
