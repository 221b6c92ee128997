-- Where a fan stands. A window whose time is over counts as over even before end-windows.lua came by.

-- Returns kind, detail: waiting, score | granted, window JSON | window_over | over, JSON | none.
local function find_place(user)
  local score = redis.call('ZSCORE', line, user)
  if score then return 'waiting', score end
  local window = redis.call('HGET', windows, user)
  if window then
    if tonumber(redis.call('ZSCORE', window_ends, user) or 0) > now_ms then return 'granted', window end
    return 'window_over', window
  end
  local ended = redis.call('GET', ended_key(user))
  if ended then return 'over', ended end
  if not is_draining() then return 'none', false end
  if redis.call('ZSCORE', closing_line, user) then return 'over', OVER[redis.call('HGET', meta, 'closing_reason')] end
  if redis.call('HEXISTS', closing_windows, user) == 1 then return 'over', OVER.closed end
  return 'none', false
end

-- How long token and session live without a sign of the fan: while in line persistence_s, in a turn until it is over too.
local function life_of(user, kind)
  if kind ~= 'granted' then return persistence_s end
  return persistence_s + math.ceil((tonumber(redis.call('ZSCORE', window_ends, user)) - now_ms) / 1000)
end

local function keep_session(user, session, token, life_s)
  redis.call('SET', session_key(user), session, 'EX', life_s)
  redis.call('SET', token_key(token), '{"user_id":"' .. user .. '"}', 'EX', life_s)
end

local function new_session(user, position, token, score, life_s)
  local session = '{"position":' .. position .. ',"queue_token":"' .. token .. '","websocket_id":null,"score":"' .. score .. '"}'
  keep_session(user, session, token, life_s)
  return session
end

-- A sign of life: token and session live on. Who was away for so long that they are gone gets the new token.
local function renew_session(user, kind, detail, new_token)
  local session = redis.call('GET', session_key(user))
  if session then
    keep_session(user, session, cjson.decode(session).queue_token, life_of(user, kind))
    return session
  end
  local position = kind == 'waiting' and redis.call('ZRANK', line, user) + 1 or 0
  local score = kind == 'waiting' and digits(tonumber(detail)) or ''
  return new_session(user, position, new_token, score, life_of(user, kind))
end

-- A fan's place and the queue around it, in the order redis-replies.ts reads it.
-- The position is looked up unless the caller knows it.
local function describe_place(user, kind, detail, session, position)
  if kind == 'window_over' then kind, detail = 'over', OVER.window_timeout end
  position = position or (kind == 'waiting' and redis.call('ZRANK', line, user) + 1 or 0)
  return { kind, position, detail, session or false, describe_queue() }
end
