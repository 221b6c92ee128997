-- visit-line: tells a fan's place without joining, and takes the question as a sign of life.
--
-- Guarantee: never creates, moves or ends a place; token and session of a living one live on. Safe to repeat.
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3 user_id  4 token to use should the old one be forgotten
-- Returns { 'unknown' } or { 'found', place }.
local user, new_token = ARGV[3], ARGV[4]

if not status_now() then return { 'unknown' } end
local kind, detail = find_place(user)
local session = false
if kind == 'waiting' or kind == 'granted' then session = renew_session(user, kind, detail, new_token) end
return { 'found', describe_place(user, kind, detail, session) }
