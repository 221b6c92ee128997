-- read-place: what a token stands for right now, for sockets and streams.
--
-- Guarantee: reads only (but opens a scheduled queue whose time has come).
--
-- KEYS  the 16 keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 user_id  5 queue token, both as the token says
-- Returns { 'unknown' } or { 'found', queue, place }; a token that is over answers with its own end, whatever place the
-- fan may have taken since.
local user, token = ARGV[4], ARGV[5]

if not status_now() then return { 'unknown' } end
local session = redis.call('GET', session_key(user))
if session and cjson.decode(session).queue_token == token then
  local kind, detail = find_place(user)
  return { 'found', describe_queue(), describe_place(user, kind, detail, session) }
end
local text = redis.call('GET', token_key(token))
if not text then return { 'unknown' } end
return { 'found', describe_queue(), describe_place(user, 'over', cjson.encode(cjson.decode(text).over), false) }
