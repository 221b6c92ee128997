-- poll-entry: reads a fan's queue entry without joining. Counts as a sign of life.
--
-- Guarantee: never creates, moves or ends a queue entry. Renews token and session of a fan in line or in a turn. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 user_id  5 queue token for the fan if the old one has expired
-- Returns { 'unknown' }, { 'state_needed' } or { 'found', queue, entry }.
local user, new_token = ARGV[4], ARGV[5]

if not status_now() then return { why_unknown() } end
local kind, detail = find_entry(user)
local session = false
if kind == 'waiting' or kind == 'granted' then session = renew_session(user, kind, detail, new_token) end
return { 'found', describe_queue(), describe_entry(user, kind, detail, session) }
