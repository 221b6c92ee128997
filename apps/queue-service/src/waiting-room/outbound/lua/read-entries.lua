-- read-entries: reads the queue entries of some tokens of one match, for sockets and streams. Up to a hundred tokens in one call.
--
-- Guarantee: if the call names a new connection, the connection is added to the fan's device list. A sixth socket replaces the oldest
-- connection; a sixth connection that is a stream is refused. A new connection renews session and token and counts as a sign of life.
-- Without a new connection the call only reads (and opens a scheduled queue after opens_at). Never creates or moves a queue
-- entry. Safe to repeat. O(tokens · log line).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  then four for each token: user_id (part of the token), queue token,
--       websocket_id of the new connection or '' (all of one pod), 'stream' for an event stream, else ''
-- Returns { 'unknown' }, { 'state_needed' } or { 'found', queue, entries }. An entry is false for an unknown token, and 'full' for a
-- sixth connection that is a stream. An ended token returns its own final state, also if the fan has joined again since.
if not status_now() then return { why_unknown() } end

local count = (#ARGV - 3) / 4
local users, session_keys, sessions, entries, connected, pod = {}, {}, {}, {}, {}, nil
for i = 1, count do
  users[i] = ARGV[4 * i]
  session_keys[i] = session_key(users[i])
end
local texts = redis.call('MGET', unpack(session_keys))
local scores = redis.call('ZMSCORE', line, unpack(users))

-- The final state of an ended token. Nil for an unknown token.
local function read_ended_token(user, token)
  local text = redis.call('GET', token_key(token))
  return text and describe_entry(user, 'over', cjson.encode(cjson.decode(text).over), false)
end

-- The session of a token's fan. Cached by fan: if one call names several devices of a fan, the second sees the changes of the first.
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
    local is_new_connection = websocket_id ~= '' and (kind == 'waiting' or kind == 'granted')
    if is_new_connection and not pod then
      pod = pod_of(websocket_id)
      note_beat(pod)
    end
    if is_new_connection and not add_device(user, session, websocket_id, not is_stream) then
      entries[i] = 'full'
    else
      if is_new_connection then
        keep_session(user, cjson.encode(session), life_of(user, kind))
        if kind == 'waiting' then connected[#connected + 1] = user end
      end
      entries[i] = describe_entry(user, kind, detail, false)
    end
  else
    entries[i] = read_ended_token(user, token)
  end
end
if #connected > 0 then note_signs_of_life(connected) end
return { 'found', describe_queue(), entries }
