-- Functions that end queue entries and turns. The final state is kept for persistence_s under the fan's id (for polls) and under the
-- queue token (for sockets that reconnect), so that the fan can still read it.
local OVER = {
  completed = '{"status":"completed"}',
  window_timeout = '{"status":"expired"}',
  left = '{"status":"left"}',
  dropped = '{"status":"expired"}',
  closed = '{"status":"closed","reason":"closed"}',
  sold_out = '{"status":"closed","reason":"sold_out"}',
}

local function end_entry(user, how)
  local session = redis.call('GET', session_key(user))
  if session then
    local token = cjson.decode(session).queue_token
    redis.call('SET', token_key(token), '{"user_id":"' .. user .. '","over":' .. OVER[how] .. '}', 'EX', persistence_s)
    redis.call('DEL', session_key(user))
  end
  -- A fan who left keeps no final state: position answers 404.
  if how == 'left' then
    redis.call('DEL', ended_key(user))
  else
    redis.call('SET', ended_key(user), OVER[how], 'EX', persistence_s)
  end
end

local function announce_window_end(user, window, reason)
  redis.call('HINCRBY', meta, 'expired', 1)
  announce('{"event":"queue.expired","user_id":"' .. user .. '","match_id":"' .. match_id .. '","reason":"' .. reason
    .. '","session_token":"' .. window.session_token .. '"}')
end

-- Updates the running mean and variance (s²) of the length of about the last hundred windows. Estimates of the wait use them.
local function record_window_length(window)
  local known = redis.call('HMGET', meta, 'mean_window_ms', 'measured_windows', 'window_variance')
  local n = math.min(99, tonumber(known[2]) or 0)
  local mean, variance = tonumber(known[1]) or 0, tonumber(known[3]) or 0
  local length = math.max(0, now_ms - (tonumber(window.granted_at_ms) or now_ms))
  local step = (length - mean) / (n + 1)
  variance = variance * n / (n + 1) + n * step * step / 1000000
  redis.call('HSET', meta, 'mean_window_ms', digits(mean + step), 'measured_windows', n + 1,
    'window_variance', string.format('%.3f', variance))
end

-- Ends the window of a fan. how: completed | window_timeout | left. Returns false when the fan has no window.
local function end_window(user, how)
  local text = redis.call('HGET', windows, user)
  if not text then return false end
  local window = cjson.decode(text)
  redis.call('HDEL', windows, user)
  redis.call('ZREM', window_ends, user)
  record_window_length(window)
  if how == 'completed' then
    redis.call('HINCRBY', meta, 'completed', 1)
    tell_pods_of_fan(user)
  else
    announce_window_end(user, window, how)
  end
  end_entry(user, how)
  return true
end
