-- admit-front: grants turns to the first present fans in line, as many as the admission rate and the free windows allow now.
--
-- Guarantee: turns are granted strictly in line order among present fans, and never more than the token bucket holds
-- (processing_rate a minute), max_open_windows or useful_windows allow, whichever pods run this and when: removing the fan from
-- the line, writing the window, spending the token and publishing the event are one atomic step. A fan who is away is skipped,
-- keeps the queue entry, gets one event queue.front_reached (for a push notification) and comes first on return. Safe to repeat.
-- O((granted + skipped) · log line), skipped ≤ 400.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 window_ms  5… session tokens, one for each turn this call may grant
-- Returns { granted, has_more, is_idle, state_needed }: the number of granted turns; 1 if more turns may be due (call again); 1 if
-- the line is empty and no window is open, so no turn is due before a fan joins; 1 if the state of the match is not known.
local window_ms, batch, MAX_SKIPPED = tonumber(ARGV[4]), #ARGV - 4, 400

if not generation then return { 0, 0, 0, why_unknown() == 'state_needed' and 1 or 0 } end
local status = status_now()
local open = redis.call('ZCARD', window_ends)
if redis.call('EXISTS', line) == 0 then return { 0, 0, open == 0 and 1 or 0, 0 } end
if status ~= 'active' then return { 0, 0, 0, 0 } end
local settings = redis.call('HMGET', meta, 'processing_rate', 'max_open_windows', 'useful_windows', 'passed_score')
local rate = tonumber(settings[1])
local free_windows = tonumber(settings[2])
if settings[3] then free_windows = math.min(free_windows, tonumber(settings[3])) end
free_windows = free_windows - open

local tokens = tokens_now(rate)
-- The small addend corrects rounding: 0.3 + 0.7 of a token must count as one token.
local due = math.min(math.floor(tokens + 0.000001), free_windows)
local count = math.min(due, batch)
if count <= 0 then return { 0, 0, 0, 0 } end

local ends_at = now_ms + window_ms
local expires_at = rfc3339(ends_at)
local life_s = math.ceil(window_ms / 1000) + persistence_s
local granted, skipped, blind_until = {}, 0, blind_until_ms()

local function grant(user)
  local session_token = ARGV[5 + #granted]
  granted[#granted + 1] = take_out(user)
  -- The monolith needs `origin`: it ignores windows of an older generation (number of the match's state in Redis), and when Redis has
  -- lost its data it sends this score (join time) back as used up.
  local origin = ',"generation":' .. generation .. ',"place_score":' .. granted[#granted]
  redis.call('HSET', windows, user, '{"expires_at":"' .. expires_at .. '","session_token":"' .. session_token
    .. '","granted_at_ms":' .. digits(now_ms) .. origin .. '}')
  redis.call('ZADD', window_ends, digits(ends_at), user)
  announce('{"event":"queue.turn_granted","user_id":"' .. user .. '","match_id":"' .. match_id .. '","session_token":"'
    .. session_token .. '","expires_at":"' .. expires_at .. '"' .. origin .. '}')
  local text = redis.call('GET', session_key(user))
  if not text then return end
  local session = cjson.decode(text)
  -- The fan is no longer in the line, so the session keeps the score (join time): receipts given out during the turn need it.
  session.score = granted[#granted]
  keep_session(user, cjson.encode(session), life_s)
end

-- Skips a fan who is away. A fan gets at most one event queue.front_reached in presence_ms, even after coming back for a short time.
local function skip(user, score)
  skipped = skipped + 1
  redis.call('ZREM', back, user)
  redis.call('ZADD', away, score, user)
  local called_at = tonumber(redis.call('HGET', called, user) or 0)
  if called_at + presence_ms > now_ms then return end
  redis.call('HSET', called, user, digits(now_ms))
  announce('{"event":"queue.front_reached","user_id":"' .. user .. '","match_id":"' .. match_id .. '"}')
end

-- Grants a turn to each present fan of the list and skips the others. Returns false when the list is empty or a limit is reached.
local function grant_or_skip(list)
  if #list == 0 then return false end
  local users = {}
  for i = 1, #list, 2 do users[#users + 1] = list[i] end
  local seen_at, gone_at = redis.call('ZMSCORE', seen, unpack(users)), redis.call('ZMSCORE', gone, unpack(users))
  for i, user in ipairs(users) do
    if #granted == count or skipped >= MAX_SKIPPED then return false end
    local score = list[2 * i]
    if is_present(score, seen_at[i], gone_at[i], blind_until) then grant(user) else skip(user, score) end
    settings[4] = digits(math.max(tonumber(settings[4] or 0), tonumber(score)))
  end
  return #granted < count and skipped < MAX_SKIPPED
end

-- Fans who have come back after being skipped stand in front of all fans not checked yet.
while grant_or_skip(redis.call('ZRANGE', back, 0, count - 1, 'WITHSCORES')) do end
while #granted < count and skipped < MAX_SKIPPED
  and grant_or_skip(redis.call('ZRANGEBYSCORE', line, '(' .. (settings[4] or '0'), '+inf', 'WITHSCORES', 'LIMIT', 0, count + 20)) do
end

if settings[4] then redis.call('HSET', meta, 'passed_score', settings[4]) end
if #granted > 0 then
  keep_tokens(tokens - #granted)
  redis.call('HINCRBY', meta, 'granted', #granted)
  count_line()
  tell_moves('gone', granted)
end
return { #granted, (skipped >= MAX_SKIPPED or (due > batch and #granted == batch)) and 1 or 0, 0, 0 }
