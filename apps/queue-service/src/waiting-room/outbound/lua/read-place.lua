-- read-place: what a token or a fan stands for right now, for sockets and streams.
--
-- Guarantee: reads only (but opens a scheduled queue whose time has come).
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3 queue token
-- Returns { 'unknown' } or { 'found', user_id, place }; a token that is over answers with its own end, whatever place the
-- fan may have taken since.
local token = ARGV[3]

local text = redis.call('GET', token_key(token))
if not text or not status_now() then return { 'unknown' } end
local known = cjson.decode(text)
if known.over then
  return { 'found', known.user_id, describe_place(known.user_id, 'over', cjson.encode(known.over), false) }
end
local kind, detail = find_place(known.user_id)
return { 'found', known.user_id, describe_place(known.user_id, kind, detail, redis.call('GET', session_key(known.user_id))) }
