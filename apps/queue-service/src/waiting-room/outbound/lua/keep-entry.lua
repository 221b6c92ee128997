-- keep-entry: a pod reports all connections that one fan has to it. Renews the expiry of the fan's session and token, and the
-- presence.
--
-- Guarantee: never creates or moves a queue entry. A connection missing from the device list is added as the oldest, or is replaced
-- if the fan has five others. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 user_id  5 queue token  6… websocket ids, oldest first
-- Returns 1 if the token is still the fan's token, 0 or 'unknown' if not, 'state_needed' if the state of the match is missing.
if not generation then return why_unknown() end
local user, token = ARGV[4], ARGV[5]

local kind = find_entry(user)
if kind ~= 'waiting' and kind ~= 'granted' then return 0 end
local text = redis.call('GET', session_key(user))
if not text then return 0 end
local session = cjson.decode(text)
if session.queue_token ~= token then return 0 end
if #ARGV > 5 then note_beat(pod_of(ARGV[6])) end
local listed, devices = session.devices or {}, {}
for i = 6, #ARGV do
  if not index_on_list(listed, ARGV[i]) then devices[#devices + 1] = ARGV[i] end
end
if #devices > 0 then
  for _, id in ipairs(listed) do devices[#devices + 1] = id end
  keep_newest(user, session, devices)
  text = cjson.encode(session)
end
keep_session(user, text, life_of(user, kind))
if kind == 'waiting' then note_sign_of_life(user) end
return 1
