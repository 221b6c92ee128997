-- read-places: what some tokens of one match stand for right now, for sockets and streams; up to a hundred in one call.
--
-- Guarantee: where a socket is named the fan has connected: session and token live on, the session names the socket, and it
-- is a sign of life, as by keep-place.lua. Otherwise reads only (but opens a scheduled queue whose time has come). Never
-- creates or moves a place. Safe to repeat. O(tokens · log line).
--
-- KEYS  the 16 keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  then three for each: user_id and queue token, both as the token says,
--       websocket_id or ''
-- Returns { 'unknown' } or { 'found', queue, places }; a place is false for a token nobody knows. A token that is over answers
-- with its own end, whatever place the fan may have taken since.
if not status_now() then return { 'unknown' } end

local count = (#ARGV - 3) / 3
local users, session_keys, places, connected = {}, {}, {}, {}
for i = 1, count do
  users[i] = ARGV[1 + 3 * i]
  session_keys[i] = session_key(users[i])
end
local sessions = redis.call('MGET', unpack(session_keys))
local scores = redis.call('ZMSCORE', line, unpack(users))

local function over_or_unknown(user, token)
  local text = redis.call('GET', token_key(token))
  return text and describe_place(user, 'over', cjson.encode(cjson.decode(text).over), false)
end

for i = 1, count do
  local user, token, websocket_id = users[i], ARGV[2 + 3 * i], ARGV[3 + 3 * i]
  local session = sessions[i] and cjson.decode(sessions[i])
  if session and session.queue_token == token then
    local kind, detail = 'waiting', scores[i]
    if not detail then kind, detail = find_place(user) end
    if websocket_id ~= '' and (kind == 'waiting' or kind == 'granted') then
      session.websocket_id = websocket_id
      keep_session(user, cjson.encode(session), life_of(user, kind))
      if kind == 'waiting' then connected[#connected + 1] = user end
    end
    places[i] = describe_place(user, kind, detail, false)
  else
    places[i] = over_or_unknown(user, token)
  end
end
if #connected > 0 then note_signs_of_life(connected) end
return { 'found', describe_queue(), places }
