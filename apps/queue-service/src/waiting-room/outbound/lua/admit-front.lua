-- admit-front: grants a turn to the first fans in line, as many as are due now.
--
-- Guarantee: strictly from the front, and never more than the bucket holds (processing_rate a minute), than
-- max_open_windows allows or than useful_windows could use, whichever pods run this at whatever time: taking the fan,
-- writing the window, spending the token and announcing the event are one step. Safe to repeat. O(granted · log line).
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3 window_ms  4… session tokens, one for each turn this call may grant
-- Returns { granted, more, quiet }: user_ids; 1 if the tokens given were too few for what is due; 1 if nobody is in line or
-- in a turn, so that nothing will be due before somebody joins.
local window_ms, batch = tonumber(ARGV[3]), #ARGV - 3

local status = status_now()
local open = redis.call('ZCARD', window_ends)
if redis.call('EXISTS', line) == 0 then return { {}, 0, open == 0 and 1 or 0 } end
if status ~= 'active' then return { {}, 0, 0 } end
local settings = redis.call('HMGET', meta, 'processing_rate', 'max_open_windows', 'useful_windows')
local rate = tonumber(settings[1])
local room = tonumber(settings[2])
if settings[3] then room = math.min(room, tonumber(settings[3])) end
room = room - open

local tokens = tokens_now(rate)
-- 0.3 + 0.7 of a token is one token, whatever binary fractions say.
local due = math.min(math.floor(tokens + 0.000001), room)
local count = math.min(due, batch)
if count <= 0 then return { {}, 0, 0 } end

local front = redis.call('ZPOPMIN', line, count)

local ends_at = now_ms + window_ms
local expires_at = rfc3339(ends_at)
local life_s = math.ceil(window_ms / 1000) + persistence_s
local granted = {}
for i = 1, #front, 2 do
  local user, session_token = front[i], ARGV[4 + #granted]
  redis.call('HSET', windows, user, '{"expires_at":"' .. expires_at .. '","session_token":"' .. session_token
    .. '","granted_at_ms":' .. digits(now_ms) .. '}')
  redis.call('ZADD', window_ends, digits(ends_at), user)
  announce('{"event":"queue.turn_granted","user_id":"' .. user .. '","match_id":"' .. match_id .. '","session_token":"'
    .. session_token .. '","expires_at":"' .. expires_at .. '"}')
  local session = redis.call('GET', session_key(user))
  if session then keep_session(user, session, cjson.decode(session).queue_token, life_s) end
  granted[#granted + 1] = user
end
keep_tokens(tokens - #granted)
redis.call('HINCRBY', meta, 'granted', #granted)
count_line()
return { granted, (due > batch and #granted == batch) and 1 or 0, 0 }
