-- Functions that find a fan's state in a match. An expired window counts as ended even before end-windows.lua has ended it.

-- The state of a fan, as two values, kind and detail: 'waiting' and score; 'granted' and window JSON; 'window_over' (expired, not
-- ended yet) and window JSON; 'over' and final state JSON; 'none' and false.
local function find_entry(user)
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

-- How long a fan's session and token live without a sign of life: persistence_s in line; during a turn, its remaining time plus
-- persistence_s.
local function life_of(user, kind)
  if kind ~= 'granted' then return persistence_s end
  return persistence_s + math.ceil((tonumber(redis.call('ZSCORE', window_ends, user)) - now_ms) / 1000)
end

-- A session lives 490 ms longer than the queue entry, so that drop-absent.lua still finds the token that it must end. SET uses PXAT,
-- because Redis would rewrite any other expiry to PXAT for its append-only file.
local function session_end(life_s) return now_ms + life_s * 1000 + 490 end
local function keep_session(user, session, life_s)
  redis.call('SET', session_key(user), session, 'PXAT', digits(session_end(life_s)))
end

-- Writes a new session. polled_at is the time of the last join or poll: a fan without connections stays present for presence_ms
-- after it. Sessions written by join-line.lua have no polled_at, to save time; for them the score (join time) is used.
local function new_session(user, position, token, life_s)
  local session = '{"position":' .. position .. ',"queue_token":"' .. token .. '","websocket_id":null,"polled_at":' .. now_ms_text .. '}'
  keep_session(user, session, life_s)
  return session
end

-- Called after a join or poll: renews a fan's token, session and presence. A fan whose session has expired gets `new_token`.
local function renew_session(user, kind, detail, new_token)
  if kind == 'waiting' then note_sign_of_life(user) end
  local text = redis.call('GET', session_key(user))
  if text then
    local session = cjson.decode(text)
    session.polled_at = now_ms
    text = cjson.encode(session)
    keep_session(user, text, life_of(user, kind))
    return text
  end
  local position = kind == 'waiting' and redis.call('ZRANK', line, user) + 1 or 0
  return new_session(user, position, new_token, life_of(user, kind))
end

-- The state of a fan as a reply, in the order that redis-replies.ts reads.
local function describe_entry(user, kind, detail, session)
  if kind == 'window_over' then kind, detail = 'over', OVER.window_timeout end
  if kind == 'waiting' then detail = digits(tonumber(detail)) end
  return { kind, kind == 'waiting' and redis.call('ZRANK', line, user) + 1 or 0, detail, session or false }
end
