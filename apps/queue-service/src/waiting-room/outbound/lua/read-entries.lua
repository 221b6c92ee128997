-- read-places: what some tokens of one match stand for right now, for sockets and streams; up to a hundred in one call.
--
-- Guarantee: where a connection is named the fan has connected: session and token live on, it counts among the fan's five (the
-- oldest makes room, but not for a stream), and it is a sign of life, as by keep-entry.lua. Otherwise reads only (but opens a
-- scheduled queue whose time has come). Never creates or moves a place. Safe to repeat. O(tokens · log line).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  then four for each: user_id and queue token, both as the token says,
--       websocket_id or '' (all of one pod), 'stream' if it is one
-- Returns { 'unknown' }, { 'state_needed' } or { 'found', queue, places }; a place is false for a token nobody knows, 'full' for a stream beyond the
-- five. A token that is over answers with its own end, whatever place the fan may have taken since.
if not status_now() then return { why_unknown() } end

local count = (#ARGV - 3) / 4
local users, session_keys, sessions, entries, connected, pod = {}, {}, {}, {}, {}, nil
for i = 1, count do
  users[i] = ARGV[4 * i]
  session_keys[i] = session_key(users[i])
end
local texts = redis.call('MGET', unpack(session_keys))
local scores = redis.call('ZMSCORE', line, unpack(users))

local function over_or_unknown(user, token)
  local text = redis.call('GET', token_key(token))
  return text and describe_entry(user, 'over', cjson.encode(cjson.decode(text).over), false)
end

-- Of a fan who comes with several devices at once the second sees what the first has done.
local function session_of(i)
  local user = users[i]
  if sessions[user] == nil then sessions[user] = texts[i] and cjson.decode(texts[i]) end
  return sessions[user]
end

for i = 1, count do
  local user, token, websocket_id, is_stream = users[i], ARGV[1 + 4 * i], ARGV[2 + 4 * i], ARGV[3 + 4 * i] == 'stream'
  local session = session_of(i)
  if session and session.queue_token == token then
    local kind, detail = 'waiting', scores[i]
    if not detail then kind, detail = find_entry(user) end
    local connects = websocket_id ~= '' and (kind == 'waiting' or kind == 'granted')
    if connects and not pod then
      pod = pod_of(websocket_id)
      note_beat(pod)
    end
    if connects and not add_device(user, session, websocket_id, not is_stream) then
      entries[i] = 'full'
    else
      if connects then
        keep_session(user, cjson.encode(session), life_of(user, kind))
        if kind == 'waiting' then connected[#connected + 1] = user end
      end
      entries[i] = describe_entry(user, kind, detail, false)
    end
  else
    entries[i] = over_or_unknown(user, token)
  end
end
if #connected > 0 then note_signs_of_life(connected) end
return { 'found', describe_queue(), entries }
