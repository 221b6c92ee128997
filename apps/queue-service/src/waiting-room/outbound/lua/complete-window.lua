-- complete-window: ends a fan's window after the purchase, so that another fan can be granted a turn.
--
-- Guarantee: with a session_token the script ends only the window of that token, so a late call cannot end a later turn of the same
-- fan. Without an open window it does nothing. Safe to repeat: the monolith repeats the call until it is answered.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 user_id  5 session_token, or '' for any open window of the fan
-- Returns 1 if a window ended, 0 or 'unknown' if there was none, 'state_needed' if the state of the match is missing: call again.
if not generation then return why_unknown() end
local user, session_token = ARGV[4], ARGV[5]

local text = redis.call('HGET', windows, user)
if not text then return 0 end
if session_token ~= '' and cjson.decode(text).session_token ~= session_token then return 0 end
end_window(user, 'completed')
return 1
