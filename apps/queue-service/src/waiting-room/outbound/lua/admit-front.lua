-- admit-front: grants a turn to the first fans in line who are here, as many as are due now.
--
-- Guarantee: strictly in the order of the line among those present, and never more than the bucket holds (processing_rate a
-- minute), than max_open_windows allows or than useful_windows could use, whichever pods run this at whatever time: taking
-- the fan, writing the window, spending the token and announcing the event are one step. Who is away keeps the place, is
-- called once (front_reached), and comes first on return. Safe to repeat. O((granted + passed) · log line), passed ≤ 400.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 window_ms  5… session tokens, one for each turn this call may grant
-- Returns { granted, more, quiet, state_needed }: how many; 1 if this call was too short for what is due; 1 if nobody is in line or
-- in a turn, so that nothing will be due before somebody joins; 1 if the state of the match is not known.
local window_ms, batch, MOST_PASSED = tonumber(ARGV[4]), #ARGV - 4, 400

if not generation then return { 0, 0, 0, why_unknown() == 'state_needed' and 1 or 0 } end
local status = status_now()
local open = redis.call('ZCARD', window_ends)
if redis.call('EXISTS', line) == 0 then return { 0, 0, open == 0 and 1 or 0, 0 } end
if status ~= 'active' then return { 0, 0, 0, 0 } end
local settings = redis.call('HMGET', meta, 'processing_rate', 'max_open_windows', 'useful_windows', 'passed_score')
local rate = tonumber(settings[1])
local room = tonumber(settings[2])
if settings[3] then room = math.min(room, tonumber(settings[3])) end
room = room - open

local tokens = tokens_now(rate)
-- 0.3 + 0.7 of a token is one token, whatever binary fractions say.
local due = math.min(math.floor(tokens + 0.000001), room)
local count = math.min(due, batch)
if count <= 0 then return { 0, 0, 0, 0 } end

local ends_at = now_ms + window_ms
local expires_at = rfc3339(ends_at)
local life_s = math.ceil(window_ms / 1000) + persistence_s
local granted, passed, blind_until = {}, 0, blind_until_ms()

local function grant(user)
  local session_token = ARGV[5 + #granted]
  granted[#granted + 1] = take_out(user)
  -- For the monolith: a window of an older generation is void, and the place is used up even if Redis forgets it.
  local origin = ',"generation":' .. generation .. ',"place_score":' .. granted[#granted]
  redis.call('HSET', windows, user, '{"expires_at":"' .. expires_at .. '","session_token":"' .. session_token
    .. '","granted_at_ms":' .. digits(now_ms) .. origin .. '}')
  redis.call('ZADD', window_ends, digits(ends_at), user)
  announce('{"event":"queue.turn_granted","user_id":"' .. user .. '","match_id":"' .. match_id .. '","session_token":"'
    .. session_token .. '","expires_at":"' .. expires_at .. '"' .. origin .. '}')
  local text = redis.call('GET', session_key(user))
  if not text then return end
  local session = cjson.decode(text)
  -- What the line knew of the join; the receipt of who is in a turn says it still.
  session.score = granted[#granted]
  keep_session(user, cjson.encode(session), life_s)
end

-- A fan who comes and goes at the front is called again, but not every minute anew.
local function pass(user, score)
  passed = passed + 1
  redis.call('ZREM', back, user)
  redis.call('ZADD', away, score, user)
  local called_at = tonumber(redis.call('HGET', called, user) or 0)
  if called_at + presence_ms > now_ms then return end
  redis.call('HSET', called, user, digits(now_ms))
  announce('{"event":"queue.front_reached","user_id":"' .. user .. '","match_id":"' .. match_id .. '"}')
end

-- Returns false once nobody is left in this list.
local function take_some(list)
  if #list == 0 then return false end
  local users = {}
  for i = 1, #list, 2 do users[#users + 1] = list[i] end
  local seen_at, gone_at = redis.call('ZMSCORE', seen, unpack(users)), redis.call('ZMSCORE', gone, unpack(users))
  for i, user in ipairs(users) do
    if #granted == count or passed >= MOST_PASSED then return false end
    local score = list[2 * i]
    if is_present(score, seen_at[i], gone_at[i], blind_until) then grant(user) else pass(user, score) end
    settings[4] = digits(math.max(tonumber(settings[4] or 0), tonumber(score)))
  end
  return #granted < count and passed < MOST_PASSED
end

-- Who came back stands in front of everybody who is not passed yet.
while take_some(redis.call('ZRANGE', back, 0, count - 1, 'WITHSCORES')) do end
while #granted < count and passed < MOST_PASSED
  and take_some(redis.call('ZRANGEBYSCORE', line, '(' .. (settings[4] or '0'), '+inf', 'WITHSCORES', 'LIMIT', 0, count + 20)) do
end

if settings[4] then redis.call('HSET', meta, 'passed_score', settings[4]) end
if #granted > 0 then
  keep_tokens(tokens - #granted)
  redis.call('HINCRBY', meta, 'granted', #granted)
  count_line()
  tell_moves('gone', granted)
end
return { #granted, (passed >= MOST_PASSED or (due > batch and #granted == batch)) and 1 or 0, 0, 0 }
