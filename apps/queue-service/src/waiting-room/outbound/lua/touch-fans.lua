-- touch-fans: these fans are connected to the pod that calls.
--
-- Guarantee: a sign of life for each who is in line, nothing for the others; who was passed while away is first again.
-- Safe to repeat. O(fans · log line); some hundreds at a time.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4… user_ids
-- Returns how many came back to a front that had passed them.
local users = {}
for i = 4, #ARGV do users[#users + 1] = ARGV[i] end
return note_signs_of_life(users)
