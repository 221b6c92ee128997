-- keep-place: a device of a fan is connected: token and session live on, and the session names the latest socket.
--
-- Guarantee: never creates or moves a place. Safe to repeat.
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3 user_id  4 queue token  5 websocket_id, or '' to leave it
-- Returns 1 if the token is still the fan's, else 0.
local user, token, websocket_id = ARGV[3], ARGV[4], ARGV[5]

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
keep_session(user, text, token, life_of(user, kind))
return 1
