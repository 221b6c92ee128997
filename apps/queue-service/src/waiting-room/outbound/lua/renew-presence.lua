-- renew-presence: records a sign of life of fans who are connected to the calling pod.
--
-- Guarantee: changes only fans in line. A fan who was skipped while away comes first again. Safe to repeat. O(fans · log line); pass
-- a few hundred fans at a time.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4… user_ids
-- Returns the number of fans who came back after they had been skipped.
local users = {}
for i = 4, #ARGV do users[#users + 1] = ARGV[i] end
return note_signs_of_life(users)
