-- keep-place: a device of a fan is connected: session and token live on, and the session names the latest socket.
--
-- Guarantee: never creates or moves a place. Safe to repeat.
--
-- KEYS  the 16 keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 user_id  5 queue token  6 websocket_id, or '' to leave it
-- Returns 1 if the token is still the fan's, else 0.
local user, token, websocket_id = ARGV[4], ARGV[5], ARGV[6]

local kind = find_place(user)
if kind ~= 'waiting' and kind ~= 'granted' then return 0 end
local text = redis.call('GET', session_key(user))
if not text then return 0 end
local session = cjson.decode(text)
if session.queue_token ~= token then return 0 end
if websocket_id ~= '' then
  session.websocket_id = websocket_id
  text = cjson.encode(session)
end
keep_session(user, text, life_of(user, kind))
if kind == 'waiting' then note_sign_of_life(user) end
return 1
